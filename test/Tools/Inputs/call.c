/* Calls a compiled function through its generated header. */
#include "scale.h"

#include <stdio.h>

int main(void) {
  float x[3][4], y[3][4], factor = 2.5f;
  int64_t extents[2], count = -1;
  RudnnTensor2 in = {x, x, 0, {3, 4}, {4, 1}};
  RudnnTensor2 out = {y, y, 0, {3, 4}, {4, 1}};
  void *args[] = {&in, &factor, &out, &count};
  int i, j;

  for (i = 0; i < 3; ++i)
    for (j = 0; j < 4; ++j)
      x[i][j] = (float)(4 * i + j);
  scale_result_shapes(args, extents);
  printf("result %lld x %lld, workspace %lld\n", (long long)extents[0],
         (long long)extents[1], (long long)scale_workspace_bytes(args));
  if (scale(&in, &factor, &out, &count, NULL, NULL) != 0)
    return 1;
  printf("rows %lld, last %g\n", (long long)count, y[2][3]);
  if (scale_run(args, NULL, NULL) != 0)
    return 1;
  return y[1][0] == 10.0f ? 0 : 1;
}
