# The package works with whatever version of it was asked for.
set(PACKAGE_VERSION "0.1.0")
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
