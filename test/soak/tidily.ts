/**
 * Does a piece of work, and removes what it leaves when it is over: also after a failure, and when this program is asked
 * to end meanwhile.
 */
export async function tidily<Report>(
  work: () => Promise<Report>,
  remove: () => Promise<void>,
): Promise<Report> {
  let removed: Promise<void> | undefined
  const removeOnce = () => {
    removed ??= remove()
    return removed
  }
  const stop = () => {
    removeOnce()
      .catch((error: unknown) => process.stderr.write(`${String(error)}\n`))
      .finally(() => process.exit(130))
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    return await work()
  } finally {
    await removeOnce()
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}
