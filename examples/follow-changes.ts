/**
 * A follower of the change feed stores its position in a file. It stops in the middle, more events are written, and it
 * resumes: it misses no event, and handles none twice.
 *
 * npx node --conditions=reeve-source examples/follow-changes.ts
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embed } from 'reeve'

const folder = await mkdtemp(join(tmpdir(), 'reeve-example-'))
const bookmark = join(folder, 'position')
const reeve = await embed({
  store: join(folder, 'reeve.db'),
  tools: { add: ({ input }) => Number(input) + 1 },
})

/** Handles events from the stored position on, until `enough` of them have been handled. */
async function follow(enough: number): Promise<number[]> {
  const handled: number[] = []
  const stop = new AbortController()
  for await (const event of reeve.follow({ after: await storedPosition() }, { signal: stop.signal })) {
    handled.push(event.position)
    // Stored after the work, so that a crash in between repeats this event instead of skipping it.
    await writeFile(bookmark, String(event.position))
    if (handled.length === enough) stop.abort()
  }
  return handled
}

async function storedPosition(): Promise<number> {
  return Number(await readFile(bookmark, 'utf8').catch(() => '0'))
}

async function add(numbers: number[]) {
  const { processes } = await reeve.spawnMany({
    processes: numbers.map((input) => ({ kind: 'tool', spec: { tool: 'add', input } })),
  })
  await reeve.waitAll({ pids: processes.map(({ record }) => record.pid) })
}

await add([1, 2])
const before = await follow(4)
console.log('handled positions', before.join(' '), 'and stopped')

await add([3, 4, 5])
const { events } = await reeve.changes({})
console.log('meanwhile the feed grew to', events.length, 'events')

const after = await follow(events.length - before.length)
console.log('handled positions', after.join(' '))

const missed = events.filter(({ position }) => ![...before, ...after].includes(position)).length
const twice = before.filter((position) => after.includes(position)).length
console.log(`missed: ${missed}, twice: ${twice}`)

await reeve.close()
await rm(folder, { recursive: true })
