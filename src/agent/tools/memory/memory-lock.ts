const LOCKS = new Map<string, Promise<unknown>>()

/** Runs `change` while no other change of the memory of this workspace runs in this program. */
export async function changingMemory<Answer>(root: string, change: () => Promise<Answer>): Promise<Answer> {
  const before = LOCKS.get(root)
  const running = (async () => {
    await before?.catch(() => undefined)
    return change()
  })()
  LOCKS.set(root, running)
  try {
    return await running
  } finally {
    if (LOCKS.get(root) === running) LOCKS.delete(root)
  }
}
