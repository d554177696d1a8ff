import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, defineTool, type Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { loggedEvent } from '../../../src/core/agent/log-view.ts'
import { untypedEvent } from '../../../src/core/process/event.ts'
import type { AgentFollowed } from '../../../src/verbs/follow-calls.ts'
import { tempFolder } from '../../temp-folder.ts'
import { TempReeve } from '../../temp-reeve.ts'

const double = defineTool({
  name: 'double',
  description: 'Doubles a number.',
  input: z.object({ n: z.number() }),
  run: ({ n }) => 2 * n,
})

async function startAgent(reeve: Reeve, answers: readonly object[], spec: object = {}): Promise<string> {
  const workspace = tempFolder()
  writeFileSync(join(workspace, 'script.json'), JSON.stringify({ answers }))
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'helper', model: 'scripted/script.json', goal: 'go', ...spec },
  })
  return record.pid
}

/** The seqs of all items that a reader of the whole log would see. */
async function loggedSeqs(reeve: Reeve, pid: string): Promise<number[]> {
  const seqs: number[] = []
  for (let after = 0; ; ) {
    const { events } = await reeve.events({ pid, after, limit: 1_000 })
    const last = events.at(-1)
    if (last === undefined) return seqs
    after = last.seq
    for (const event of events) seqs.push(...[loggedEvent(untypedEvent(event))?.seq ?? []].flat())
  }
}

interface Seen {
  readonly seqs: number[]
  readonly fragments: Extract<AgentFollowed, { type: 'fragment' }>[]
  readonly types: string[]
}

async function collect(
  items: AsyncIterable<AgentFollowed>,
  each: (item: AgentFollowed) => Promise<void> | void = () => {},
): Promise<Seen> {
  const seen: Seen = { seqs: [], fragments: [], types: [] }
  for await (const item of items) {
    seen.types.push(item.type)
    if (item.type === 'snapshot') seen.seqs.push(...item.page.items.map(({ seq }) => seq))
    if (item.type === 'item') seen.seqs.push(item.item.seq)
    if (item.type === 'fragment') seen.fragments.push(item)
    await each(item)
  }
  return seen
}

/** The text that was shown of one call, and whether no byte is missing or there twice. */
function shownOf({ fragments }: Seen, call: number): { readonly text: string; readonly isWhole: boolean } {
  const own = fragments.filter((one) => one.call === call)
  const isWhole = own.every(({ offset }, index) => index === 0 || offset === own[index - 1]?.next)
  return {
    text: own
      .filter(({ stream }) => stream === 'text')
      .map(({ text }) => text)
      .join(''),
    isWhole,
  }
}

test('subscribers that join amid a thousand commits see each item once, and the stream in flight', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({}, { tools: [double] })
  const calls = 150
  const asks = Array.from({ length: calls }, (_, n) => ({
    parts: [{ text: `Step ${n}.` }, { tool: 'double', input: { n } }],
  }))
  const story = Array.from({ length: 200 }, (_, word) => `word ${word} ä`).join(' ')
  const pid = await startAgent(reeve, [...asks, { parts: [{ text: story }], fragmentMs: 10 }], { once: true })
  const subscribers: Promise<Seen>[] = []
  const slow = collect(reeve.followAgent({ pid, last: 1_000 }), async ({ type }) => {
    if (type === 'item') await new Promise((resolve) => setTimeout(resolve, 1))
  })
  for (let joined = 0; joined < 8; joined++) {
    const from = joined * 18 + 1
    await expect
      .poll(async () => (await reeve.show({ pid })).agent?.turn?.calls ?? calls, { interval: 1 })
      .toBeGreaterThanOrEqual(from)
    subscribers.push(collect(reeve.followAgent({ pid, last: 1_000 })))
  }
  await reeve.wait({ pid })
  const { revision } = await reeve.show({ pid })
  expect(revision).toBeGreaterThan(1_000)
  const logged = await loggedSeqs(reeve, pid)
  expect((await slow).seqs).toEqual(logged)
  for (const seen of [slow, ...subscribers]) {
    const { seqs, types } = await seen
    expect([types[0], types.at(-1)]).toEqual(['snapshot', 'ended'])
    expect(seqs).toEqual(logged.slice(-seqs.length))
    expect(seqs.length).toBeGreaterThan(5)
  }
  for (const seen of await Promise.all(subscribers)) {
    const { text, isWhole } = shownOf(seen, calls + 1)
    expect([isWhole, story.startsWith(text)]).toEqual([true, true])
    expect(text.length).toBeGreaterThan(story.length / 2)
  }
  await reeve.close()
})

test('a follower that resumes after an item and at an offset sees the rest', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const story = 'a long story that is told in pieces, '.repeat(20)
  const pid = await startAgent(reeve, [{ parts: [{ thinking: 'Hm.' }, { text: story }], fragmentMs: 10 }], {
    once: true,
  })
  const first: AgentFollowed[] = []
  for await (const item of reeve.followAgent({ pid })) {
    first.push(item)
    if (item.type === 'fragment' && item.stream === 'text') break
  }
  const last = first.at(-1)
  if (last?.type !== 'fragment') throw new Error('no fragment')
  const page = first.find((item) => item.type === 'snapshot')
  const seqs = first.flatMap((item) => (item.type === 'item' ? [item.item.seq] : []))
  const from = seqs.at(-1) ?? (page?.type === 'snapshot' ? page.page.after : 0)
  const rest = await collect(reeve.followAgent({ pid, from, offset: last.next }))
  expect(rest.seqs).toEqual((await loggedSeqs(reeve, pid)).filter((seq) => seq > from))
  expect(rest.fragments[0]?.offset).toBe(last.next)
  const text = first.flatMap((item) =>
    item.type === 'fragment' && item.stream === 'text' ? [item.text] : [],
  )
  expect(story.startsWith(text.join('') + shownOf(rest, 1).text)).toBe(true)
  const { lines } = await reeve.log({ pid, from: 'start' })
  expect(lines.map(({ text: line, stream }) => [stream, line])).toEqual([
    ['thinking', 'Hm.'],
    ['text', story],
  ])
  await reeve.close()
})

test('a follower over the wire loses and repeats nothing when the daemon is killed in between', async () => {
  const temp = new TempReeve()
  await temp.start()
  const reeve = await connect({ home: temp.folder })
  onTestFinished(() => reeve.close())
  const story = 'once upon a time there was a daemon, '.repeat(15)
  const answers = Array.from({ length: 4 }, () => ({ parts: [{ text: story }], fragmentMs: 20 }))
  const pid = await startAgent(reeve, answers)
  let killed = 0
  const ending = new AbortController()
  const seen = await collect(reeve.followAgent({ pid }, { signal: ending.signal }), async (item) => {
    const turns = item.type === 'state' ? item.record.agent : null
    if (item.type === 'fragment' && killed < 2 && item.text.length > 0 && item.turn > killed) {
      killed += 1
      await temp.killDaemon()
      await temp.start()
    }
    if (turns?.turn === null && turns.turns < 3)
      await reeve.runAgent({ pid, id: `i${turns.turns}`, text: 'on' })
    if (turns?.turn === null && turns.turns === 3) ending.abort()
  })
  expect(killed).toBe(2)
  const logged = await loggedSeqs(reeve, pid)
  expect(seen.seqs).toEqual(logged.slice(0, seen.seqs.length))
  expect(seen.seqs.length).toBeGreaterThan(logged.length - 3)
  const calls = new Set(seen.fragments.map(({ turn, call }) => `${turn}.${call}`))
  for (const call of calls) {
    const own = seen.fragments.filter((one) => `${one.turn}.${one.call}` === call)
    for (const [index, { offset }] of own.entries()) if (index > 0) expect(offset).toBe(own[index - 1]?.next)
    const text = own.filter(({ stream }) => stream === 'text').map((one) => one.text)
    expect(story.startsWith(text.join(''))).toBe(true)
  }
  await reeve.shutDownAgent({ pid })
})
