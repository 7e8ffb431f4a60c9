/* The unit of work of the fan-out benchmark: costs as little as a process can.
   unit true          exits 0
   unit flaky DIR I   every tenth I fails once: creates DIR/I and exits 1, then exits 0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words) {
  if (count < 4 || strcmp(words[1], "flaky") || atoi(words[3]) % 10) return 0;
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", words[2], words[3]);
  return open(path, O_WRONLY | O_CREAT | O_EXCL, 0644) >= 0;
}
