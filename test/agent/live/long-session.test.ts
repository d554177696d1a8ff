import { expect, test } from 'vitest'
import type { ProcessEvent } from '../../../src/core/process/event.ts'
import type { ProcessRow } from '../../../src/core/process/row.ts'
import { openSqlite } from '../../../src/sqlite.ts'
import type { Store } from '../../../src/store/contract.ts'
import { PID, PureAgent, text } from '../../core/agent/pure-agent.ts'
import { embedTemp } from '../../embed-temp.ts'
import { tempStore } from '../../temp-folder.ts'

const ENTRIES_PER_TURN = 6
/** Of one test run on a busy machine; on an idle one it takes a few milliseconds. */
const MAX_FIRST_FRAME_MS = 100

/** The events of a long session, without the work of deciding each of them. */
function* eventsOfTurns(first: number, turns: number): Generator<ProcessEvent> {
  let seq = first
  const event = (type: string, payload: object): ProcessEvent => ({
    pid: PID,
    seq: ++seq,
    type,
    payload: JSON.parse(JSON.stringify(payload)),
    at: 1_000 + seq,
    actor: `process:${PID}`,
    replayKey: null,
  })
  let follows = 0
  for (let turn = 1; turn <= turns; turn++) {
    const at = { turn, call: 1 }
    const admitted = event('input_admitted', {
      input: `i${turn}`,
      mode: 'run',
      parts: text(`Do ${turn}`),
      asker: 'host',
      answer: { type: 'started', input: `i${turn}`, turn, interrupts: [] },
    })
    yield admitted
    const about = { cause: 'user', asker: 'host', input: `i${turn}`, segment: 1, hasSchema: false }
    yield event('turn_begun', { turn, ...about, follows, interrupted: [] })
    yield event('input_promoted', { turn, call: 0, input: `i${turn}`, seq: admitted.seq })
    yield event('assistant_item', { ...at, model: 'm/m', parts: text('I look. '.repeat(20)) })
    const call = { index: 0, callId: `c${turn}` }
    yield event('tool_called', { ...at, ...call, tool: 'read_file', parts: text('{}') })
    yield event('tool_answered', { ...at, ...call, isError: false, parts: text('line\n'.repeat(50)) })
    const ended = event('turn_ended', { turn, reason: 'finished', calls: 1, result: null })
    yield ended
    follows = ended.seq
  }
}

async function writeSession(store: Store, turns: number): Promise<void> {
  const agent = new PureAgent()
  const events = [...agent.events, ...eventsOfTurns(agent.events.length, turns)]
  const { record } = agent.row
  const head = events.at(-1)?.seq ?? 0
  for (let from = 0; from < events.length; from += 20_000) {
    const part = events.slice(from, from + 20_000)
    const revision = part.at(-1)?.seq ?? 0
    const state = { ...agent.agent, turns, head }
    const row: ProcessRow = { ...agent.row, record: { ...record, revision, agent: state } }
    await store.write(function* () {
      const [was] = (yield [{ ask: 'process', pid: PID }]) as [ProcessRow | null]
      const change = { type: 'process', was, row, events: part } as const
      return { answer: null, changes: [change] }
    })
  }
}

test('the end of a session of 100,000 entries is shown within 100 ms', async () => {
  const store = await openSqlite(tempStore())
  const turns = Math.ceil(100_000 / ENTRIES_PER_TURN)
  await writeSession(store, turns)
  const reeve = await embedTemp({ store })
  const times: number[] = []
  for (let tries = 0; tries < 5; tries++) {
    const began = performance.now()
    for await (const seen of reeve.followAgent({ pid: PID })) {
      expect(seen.type === 'snapshot' && seen.page.items.length).toBeGreaterThanOrEqual(100)
      break
    }
    times.push(performance.now() - began)
  }
  expect(Math.min(...times)).toBeLessThan(MAX_FIRST_FRAME_MS)
  const { items } = await reeve.agentLog({ pid: PID, last: 10 })
  expect(items.at(-1)).toMatchObject({ type: 'turn_ended', payload: { turn: turns } })
  await reeve.close()
  await store.close()
})
