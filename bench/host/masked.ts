import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Reeve } from '../../src/index.ts'
import { inTurns, now } from '../clock.ts'
import { type Figure, figure, ratioAtLeast } from '../figure.ts'
import { writeOrdinaryText } from './ordinary-text.ts'
import { command, freshFolder, openReeve, quoted, type Setup } from './setup.ts'

const MB = 1e6
const GOAL = 0.6
const PAGE_BYTES = 1024 * 1024
const PAGE_LINES = 10_000

/** Ways to read a log from beginning to end; each returns how much it read. */
const WAYS = {
  'lines read masked': async (reeve: Reeve, pid: string, reveal: boolean) => {
    let read = 0
    for (let offset: number | null = 0; offset !== null; ) {
      const page: Awaited<ReturnType<Reeve['log']>> = await reeve.log({
        pid,
        from: 'start',
        offset,
        limit: PAGE_LINES,
        ansi: 'keep',
        reveal,
      })
      for (const { text } of page.lines) read += Buffer.byteLength(text) + 1
      offset = page.next
    }
    return read
  },
  'bytes followed masked': async (reeve: Reeve, pid: string, reveal: boolean) => {
    let read = 0
    for await (const { bytes } of reeve.followOutput({ pid, reveal })) read += bytes.length
    return read
  },
  'bytes read masked by pages of 1 MiB': async (reeve: Reeve, pid: string, reveal: boolean) => {
    let read = 0
    for (;;) {
      const page = await reeve.output({ pid, offset: read, limit: PAGE_BYTES, reveal })
      if (page.bytes.length === 0) return read
      read = page.next
    }
  },
} as const

/** The cost of masking: ordinary text, read masked and unmasked. */
export async function* linesReadMasked(
  setup: Setup,
  { bytes, rounds }: { readonly bytes: number; readonly rounds: number },
): AsyncGenerator<Figure> {
  const data = join(freshFolder(setup, 'masked'), 'data')
  writeOrdinaryText(data, bytes)
  const { reeve, close } = await openReeve(setup)
  try {
    const request = command(`cat ${quoted(data)}`, { keepBytes: 2 * bytes })
    const { record } = await reeve.spawn(request)
    const { pid } = record
    await reeve.wait({ pid })
    for (const [name, read] of Object.entries(WAYS)) {
      const rate = async (reveal: boolean) => {
        const begun = now()
        const length = await read(reeve, pid, reveal)
        if (length !== bytes) throw new Error(`${length} bytes were read instead of ${bytes}.`)
        return bytes / MB / ((now() - begun) / 1_000)
      }
      const { first, ratio } = await inTurns(
        rounds,
        () => rate(false),
        () => rate(true),
      )
      const against = 'the same, not masked'
      // Cached pages are as fast as memory, so a goal for them would say nothing about reading.
      const goal = name.includes('1 MiB') ? undefined : ratioAtLeast(GOAL)
      yield figure(`${bytes / MB} MB of ${name}`, first, 'MB/s', { ratio, against }, goal)
    }
  } finally {
    await close()
    rmSync(data)
  }
}
