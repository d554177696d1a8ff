import { expect, test } from 'vitest'
import { compactionSizes, firstKept, shorterTranscript } from '../../../src/core/agent/compaction.ts'
import { entriesInView } from '../../../src/core/agent/history.ts'
import type { Part } from '../../../src/core/agent/state.ts'
import { answer, PureAgent, text } from './pure-agent.ts'

/** An agent with one turn for each of these inputs. */
function session(inputs: readonly (readonly Part[])[]) {
  const agent = new PureAgent()
  for (const [index, parts] of inputs.entries()) {
    agent.request({ type: 'run', id: `i${index}`, mode: 'run', parts })
    if (agent.row.holder === null) agent.claim()
    answer(agent)
    agent.act({ type: 'end_turn', turn: index + 1, reason: 'finished' })
  }
  const partsAt = (seq: number) => {
    const { parts } = (agent.events.find((event) => event.seq === seq)?.payload ?? {}) as { parts?: Part[] }
    return parts ?? []
  }
  const entries = entriesInView(agent.events)
  /** The inputs that are kept. */
  const kept = (tokens: number) => {
    const from = firstKept(entries, partsAt, tokens) ?? Number.POSITIVE_INFINITY
    return entries.flatMap((one) =>
      one.type === 'input_promoted' && one.seq >= from ? [one.payload.input] : [],
    )
  }
  return { kept }
}

test('an input counts with all its text in what a compaction keeps', () => {
  const long = text('x'.repeat(3_000))
  const { kept } = session([long, long, text('last')])
  expect(kept(2_500)).toEqual(['i0', 'i1', 'i2'])
  expect(kept(1_500)).toEqual(['i1', 'i2'])
  expect(kept(500)).toEqual(['i2'])
})

test('a picture counts as a picture, not as the text of its bytes', () => {
  const picture = { type: 'image', mediaType: 'image/png', data: 'A'.repeat(9_000) }
  const { kept } = session([[picture], text('last')])
  expect(kept(2_500)).toEqual(['i0', 'i1'])
  expect(kept(1_500)).toEqual(['i1'])
})

test('notices count with their text', () => {
  const agent = new PureAgent()
  agent.request({ type: 'notify', id: 'n', cause: 'notify', parts: text('x'.repeat(3_000)) })
  const { seq } = agent.events.find(({ type }) => type === 'notices_promoted') ?? {}
  const entries = entriesInView(agent.events)
  const partsAt = () => text('x'.repeat(3_000))
  expect(firstKept(entries, partsAt, 1_100)).toBe(seq)
  expect(firstKept(entries, partsAt, 900)).toBeNull()
})

test('in a usual window the sizes of a compaction are fixed, and in a small one they are shares of it', () => {
  expect(compactionSizes({ contextWindow: 200_000, fixed: 8_000 })).toEqual({
    keptTokens: 20_000,
    summaryTokens: 4_000,
    transcriptChars: 504_000,
  })
  expect(compactionSizes({ contextWindow: 16_000, fixed: 5_000 })).toEqual({
    keptTokens: 3_000,
    summaryTokens: 4_000,
    transcriptChars: 24_000,
  })
  // A request that did not fit says more than a setting.
  expect(compactionSizes({ contextWindow: 200_000, overflowed: 8_000, fixed: 5_000 })).toEqual({
    keptTokens: 500,
    summaryTokens: 2_000,
    transcriptChars: 12_000,
  })
  expect(compactionSizes({ contextWindow: 200_000, fixed: 0, reasons: true }).summaryTokens).toBe(16_000)
})

test('a transcript that does not fit is halved a bounded number of times', () => {
  expect(shorterTranscript(10_000)).toBe(5_000)
  expect(shorterTranscript(2_500)).toBe(2_000)
  expect(shorterTranscript(2_000)).toBeNull()
})
