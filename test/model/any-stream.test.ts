import fc from 'fast-check'
import { expect, test } from 'vitest'
import { notJson } from '../../src/core/json/json.ts'
import { promptProblem } from '../../src/core/model/check-prompt.ts'
import type { AssistantPart, PromptItem } from '../../src/core/model/prompt.ts'
import { callOptions } from '../../src/model/ai-sdk/call-options.ts'
import { modelOfObject } from '../../src/model/ai-sdk/model-object.ts'
import type { Family } from '../../src/model/ai-sdk/target.ts'
import { systemClock } from '../../src/store/system-clock.ts'
import { ask } from './open-model.ts'

/** Few ids, so that they collide; and some that no provider should send. */
const id = fc.constantFrom('a', 'b', '', ' ', 'call_0', 'x'.repeat(300), 'ünï', '\u0000')
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', 'text', '\ud83d', '\ude00', '\ud800x'),
)
const tool = fc.constantFrom('add', 'add', 'ad', '', '__proto__', '\ud800', 'x'.repeat(1_000))
const json = fc.oneof(
  fc.json(),
  fc.constantFrom('', '{', '{}', '[]', 'null', '{"a":1', '{"a":"\\ud800"}', '{"__proto__":{"a":1}}', '{}{}'),
)
const metadata = fc.constantFrom(
  undefined,
  {},
  { acme: { signature: 's', none: undefined } },
  { acme: { half: '\ud800' } },
)
const part = (type: string, more: Record<string, fc.Arbitrary<unknown>> = {}) =>
  fc.record({ type: fc.constant(type), id, providerMetadata: metadata, ...more })
const call = fc.record({
  type: fc.constant('tool-call'),
  toolCallId: id,
  toolName: tool,
  input: json,
  providerExecuted: fc.constantFrom(undefined, true),
  providerMetadata: metadata,
})
const finish = fc.record({
  type: fc.constant('finish'),
  finishReason: fc.record({
    unified: fc.constantFrom(
      'stop',
      'length',
      'tool-calls',
      'content-filter',
      'error',
      'interrupted',
      'other',
    ),
    raw: fc.constantFrom(undefined, 'stop', 'pause_turn'),
  }),
  usage: fc.constantFrom(
    { inputTokens: {}, outputTokens: {} },
    { inputTokens: { total: 3, cacheRead: Number.NaN }, outputTokens: { total: -1 } },
  ),
})
const anyPart = fc.oneof(
  part('text-start'),
  part('text-delta', { delta: text }),
  part('text-end'),
  part('reasoning-start'),
  part('reasoning-delta', { delta: text }),
  part('reasoning-end'),
  part('tool-input-start', { toolName: tool }),
  part('tool-input-delta', { delta: text }),
  part('tool-input-end'),
  call,
  fc.record({
    type: fc.constant('tool-result'),
    toolCallId: id,
    toolName: tool,
    result: fc.jsonValue(),
    isError: fc.boolean(),
  }),
  part('custom', { kind: fc.constantFrom('acme.x', 'none') }),
)
const error = fc.record({ type: fc.constant('error'), error: fc.anything() })
/** Most streams end with a reason, some with an error, some with neither. */
const anyStream = fc
  .tuple(
    fc.array(anyPart, { maxLength: 20 }),
    fc.oneof({ arbitrary: finish, weight: 4 }, error, fc.constant(undefined)),
    fc.array(anyPart, { maxLength: 2 }),
  )
  .map(([parts, end, late]) => (end === undefined ? parts : [...parts, end, ...late]))

function modelOf(parts: readonly object[], isBroken: boolean) {
  const stream = async function* () {
    yield* parts
    if (isBroken) throw new Error('broken')
  }
  const object = {
    specificationVersion: 'v4',
    provider: 'acme',
    modelId: 'm',
    doStream: async () => ({ stream: ReadableStream.from(stream()) }),
  }
  const opened = modelOfObject(object, { clock: systemClock, idleTimeoutMs: 60_000 })
  if (opened.type === 'refused') throw new Error(opened.message)
  return opened.model
}

/** The session after an answer, as an executor continues it. */
function sessionAfter(prompt: readonly PromptItem[], parts: readonly AssistantPart[]): PromptItem[] {
  const results = parts.flatMap((one) =>
    one.type === 'tool_call' && one.isProviderExecuted !== true
      ? [
          {
            callId: one.callId,
            tool: one.tool,
            output: { type: 'text', text: 'done' },
            isError: false,
          } as const,
        ]
      : [],
  )
  const answer: PromptItem = { type: 'assistant', by: { provider: 'acme', model: 'm' }, parts }
  return [
    ...prompt,
    answer,
    ...(results.length > 0 ? [{ type: 'tool_results', results } as const] : []),
    { type: 'note', text: 'go on' },
  ]
}

const families: readonly Family[] = ['messages', 'responses', 'chat', 'other']

test('after any stream of a provider, the answer can be stored, and the session goes on with the same beginning', async () => {
  const seen = { answered: 0, cut: 0, failed: 0, refused: 0, overflow: 0, aborted: 0, calls: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(anyStream, fc.constantFrom(false, false, true)), { minLength: 1, maxLength: 3 }),
      async (streams) => {
        let prompt: PromptItem[] = [...ask('begin').prompt]
        for (const [parts, isBroken] of streams) {
          const answer = await modelOf(parts, isBroken).call(ask('', { prompt }))
          expect(notJson(JSON.parse(JSON.stringify(answer)))).toBeUndefined()
          seen[answer.type] += 1
          if (!('parts' in answer)) continue
          seen.calls += answer.parts.filter(({ type }) => type === 'tool_call').length
          expect(notJson(answer.parts)).toBeUndefined()
          const next = sessionAfter(prompt, answer.parts)
          expect(promptProblem(next)).toBeUndefined()
          for (const family of families) {
            const wire = (items: readonly PromptItem[]) =>
              callOptions(ask('', { prompt: items, cacheAfter: [] }), {
                provider: 'acme',
                model: 'm',
                family,
              }).prompt.map((one) => JSON.stringify(one))
            const before = wire(prompt)
            expect(wire(next).slice(0, before.length)).toEqual(before)
          }
          prompt = JSON.parse(JSON.stringify(next))
        }
      },
    ),
    { numRuns: 300 },
  )
  // Far fewer than there are on average: chance decides.
  expect(Math.min(seen.answered, seen.cut, seen.failed, seen.refused, seen.calls)).toBeGreaterThan(5)
})
