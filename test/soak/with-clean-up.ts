/**
 * Does a piece of work and cleans up after it: when it is done, when it fails, and when this program receives SIGINT or
 * SIGTERM meanwhile.
 */
export async function withCleanUp<Report>(
  work: () => Promise<Report>,
  cleanUp: () => Promise<void>,
): Promise<Report> {
  let cleaned: Promise<void> | undefined
  let isStopped = false
  const cleanUpOnce = () => {
    cleaned ??= cleanUp()
    return cleaned
  }
  const stop = () => {
    isStopped = true
    cleanUpOnce()
      .catch((error: unknown) => process.stderr.write(`${String(error)}\n`))
      .finally(() => process.exit(130))
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    return await work()
  } finally {
    await cleanUpOnce()
    // The work fails when its daemons are ended under it. `stop` exits before that failure is reported.
    if (isStopped) await new Promise<never>(() => {})
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}
