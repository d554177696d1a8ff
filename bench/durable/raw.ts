/**
 * A database and its driver alone: no decisions, leases, recovery or second host. Not a product, but the limit of this
 * disk and this driver. Work is passed on in memory; every acknowledgement waits for the disk.
 */
export interface Raw {
  /** Accepts a unit durably, runs it, and completes it durably. Resolves when it has been accepted. */
  accept(run: () => void): Promise<void>
  /** Accepted units that are not durably completed. */
  unfinished(): Promise<number>
  /** Commits one row and then does the work: the minimum cost of durable work. */
  commitOne(then: () => void): Promise<void>
  close(): Promise<void>
}

/** Appends as the store does, to existing processes: see `learnAppend`. */
export interface RawAppends {
  append(index: number): Promise<void>
  close(): Promise<void>
}

/** Batches the requests of one turn of the event loop into one commit, and then answers them all. */
export function grouped<Item>(commit: (items: readonly Item[]) => void | Promise<void>) {
  let waiting: {
    readonly item: Item
    readonly resolve: () => void
    readonly reject: (e: unknown) => void
  }[] = []
  let busy = false
  const turn = async () => {
    const batch = waiting
    waiting = []
    try {
      await commit(batch.map(({ item }) => item))
      for (const { resolve } of batch) resolve()
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    busy = false
    arm()
  }
  const arm = () => {
    if (busy || waiting.length === 0) return
    busy = true
    setImmediate(turn)
  }
  return (item: Item): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      arm()
    })
}
