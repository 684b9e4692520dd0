# find_package(scopt) gives
#
#   scopt_optimize(TARGET... [FLAGS flag...] [NO_THREADS])
#
# which puts scoptcc before the C compiler of these targets. FLAGS are options of scopt, NO_THREADS leaves `omp parallel for` out.
#
# Variables: scopt_COMPILER, the path of scoptcc. scopt_OPTIMIZE, an option that is ON: OFF makes scopt_optimize do nothing.

cmake_minimum_required(VERSION 3.13)

if(NOT scopt_COMPILER)
  # An environment's commands lie beside its library: <prefix>/bin and <prefix>/lib/pythonX.Y/site-packages/scopt/cmake.
  find_program(scopt_COMPILER scoptcc HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../../../bin" DOC "scoptcc, which optimizes on the way to the C compiler")
endif()
option(scopt_OPTIMIZE "Let scopt optimize the targets that ask for it" ON)

if(NOT scopt_COMPILER)
  set(scopt_FOUND FALSE)
  set(scopt_NOT_FOUND_MESSAGE "scoptcc was not found; set scopt_COMPILER to its path")
  return()
endif()

function(scopt_optimize)
  cmake_parse_arguments(PARSE_ARGV 0 scopt "NO_THREADS" "" "FLAGS")
  if(NOT scopt_OPTIMIZE)
    return()
  endif()
  set(threads 1)
  if(scopt_NO_THREADS)
    set(threads 0)
    list(APPEND scopt_FLAGS --no-parallel)
  endif()
  list(JOIN scopt_FLAGS " " flags)
  set(launcher "${CMAKE_COMMAND}" -E env "SCOPT_OPENMP=${threads}")
  if(flags)
    list(APPEND launcher "SCOPT_FLAGS=${flags}")
  endif()
  foreach(target IN LISTS scopt_UNPARSED_ARGUMENTS)
    # A launcher that is there already, such as ccache, would keep what scoptcc has made: scoptcc comes first.
    get_target_property(present ${target} C_COMPILER_LAUNCHER)
    set(whole ${launcher} "${scopt_COMPILER}")
    if(present)
      list(APPEND whole ${present})
    endif()
    set_target_properties(${target} PROPERTIES C_COMPILER_LAUNCHER "${whole}")
    if(threads)
      # Whatever is linked with these objects needs the run time of OpenMP.
      get_target_property(type ${target} TYPE)
      if(NOT type STREQUAL "OBJECT_LIBRARY")
        target_link_options(${target} PRIVATE -fopenmp)
      endif()
      if(NOT type STREQUAL "EXECUTABLE")
        target_link_options(${target} INTERFACE -fopenmp)
      endif()
    endif()
  endforeach()
endfunction()
