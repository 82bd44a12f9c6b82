/**
 * Begins to measure the processor time of this process, which other work on the machine does not change.
 *
 * @returns a function that gives the milliseconds since
 */
export function measureCpuTime(): () => number {
  const begun = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1_000;
  };
}
