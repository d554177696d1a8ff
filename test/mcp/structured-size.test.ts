import { expect, test } from 'vitest'
import { embedTemp } from '../embed-temp.ts'
import { type Called, call, overHttp } from './connected.ts'

const PROCESSES = 120
const PAGE_CHARS = 4_000

interface ListPage {
  readonly processes: readonly { readonly name: string }[]
  readonly next: string | null
}

/** A client whose session has many processes. */
async function busyClient() {
  const reeve = await embedTemp()
  await reeve.openSession({ session: 'mine' })
  const one = { kind: 'external', owner: { session: 'mine' } } as const
  const names = Array.from({ length: PROCESSES }, (_, index) => `process-number-${index}`)
  const processes = names.map((name) => ({ ...one, name, spec: { description: 'x'.repeat(100) } }))
  await reeve.spawnMany({ processes })
  const caller = { role: 'agent', actor: 'session:mine', tokenId: 't' } as const
  return { names, client: await overHttp(reeve, { era: 'modern', caller }) }
}

test('process_list gives structured content of at most a page, and the pages have each process once', async () => {
  const { names, client } = await busyClient()
  const listed: string[] = []
  let after: string | null = null
  do {
    const given: object = { limit: 200, ...(after === null ? {} : { after }) }
    const { structured, text }: Called<ListPage> = await call<ListPage>(client, 'process_list', { ...given })
    expect(JSON.stringify(structured).length).toBeLessThanOrEqual(PAGE_CHARS)
    for (const { name } of structured.processes) expect(text).toContain(`(${name})`)
    if (structured.next !== null) expect(text).toContain(structured.next)
    listed.push(...structured.processes.map(({ name }) => name))
    after = structured.next
  } while (after !== null && listed.length <= PROCESSES)
  expect(listed.sort()).toEqual(names.sort())
})

test('interrupt gives structured content of at most a page, and says how many it leaves out', async () => {
  const { client } = await busyClient()
  const { structured, text } = await call<{ matched: number; recorded: unknown[]; leftOut: number }>(
    client,
    'interrupt',
    { all: true },
  )
  expect(text.length).toBeLessThanOrEqual(PAGE_CHARS)
  expect(JSON.stringify(structured).length).toBeLessThanOrEqual(PAGE_CHARS)
  expect(structured.matched).toBe(PROCESSES)
  expect(structured.recorded.length + structured.leftOut).toBe(PROCESSES)
})
