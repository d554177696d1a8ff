import { build, madeBeside } from '../durable/build.ts'

export interface Built {
  /** Reeve's entry point. */
  readonly reeve: string
  readonly daemon: string
  readonly adapter: string
  readonly adapterKeeperToo: string
}

/**
 * Reeve as it is published, and the programs of this suite that embed it. None of them strips types at run time: that
 * would count as Reeve's memory.
 */
export async function buildForDaemons(): Promise<Built> {
  const { reeve } = await build()
  const made = (source: string) => madeBeside(reeve, source)
  for (const part of [import.meta.resolve('./built-reeve.ts'), import.meta.resolve('./proc.ts')]) made(part)
  return {
    reeve,
    daemon: made(import.meta.resolve('./daemon.ts')),
    adapter: made(import.meta.resolve('./adapter.ts')),
    adapterKeeperToo: made(import.meta.resolve('./adapter-keeper-too.ts')),
  }
}
