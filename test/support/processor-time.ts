/**
 * The milliseconds of processor time that this process has taken: a test of how long something takes must not fail
 * because the machine is busy with something else.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
