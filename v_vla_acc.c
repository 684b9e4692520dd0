#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <time.h>
void f(int n,int m,double w[n][m],double x[m],double y[n]){
#pragma scop
for(int i=0;i<n;i++) for(int j=0;j<m;j++) y[i]+=w[i][j]*x[j];
#pragma endscop
}
int main(int c,char**v){int n=atoi(v[1]),m=atoi(v[2]);double*w=malloc(sizeof(*w)*(n*m+1)),*x=malloc(sizeof(*x)*(m+1)),*y=malloc(sizeof(*y)*(n+1));
for(int i=0;i<n*m;i++)w[i]=(i%23)/7.0;for(int i=0;i<m;i++)x[i]=(i%11)/3.0-1;double best=1e9;unsigned long h=5381;
for(int r=0;r<(n*m<1000?1:60);r++){for(int i=0;i<n;i++)y[i]=i%5;struct timespec a,b;clock_gettime(CLOCK_MONOTONIC,&a);f(n,m,(void*)w,x,y);clock_gettime(CLOCK_MONOTONIC,&b);double t=(b.tv_sec-a.tv_sec)*1e9+b.tv_nsec-a.tv_nsec;if(t<best)best=t;}
for(size_t i=0;i<n*sizeof(*y);i++)h=h*33+((unsigned char*)y)[i];printf("%lu %.3f\n",h,best/n/m);}