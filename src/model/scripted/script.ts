import * as z from 'zod'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { type ModelRefusal, modelRefusal } from '../../core/model/refusal.ts'
import { scriptProblem } from './script-problem.ts'

const ms = z.number().int().nonnegative().max(3_600_000)
const tokens = z.number().int().nonnegative()

const json: z.ZodType<Json> = z.json()
const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), json)

const part = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ thinking: z.string(), signature: z.string().exactOptional() }),
  z.strictObject({ tool: z.string(), input: jsonObject.default({}), id: z.string().exactOptional() }),
  z.strictObject({
    tool: z.string(),
    arguments: z.string().describe('the arguments as text, which need not be JSON'),
    id: z.string().exactOptional(),
  }),
])

const failure = z.strictObject({
  status: z.number().int().min(300).max(599).exactOptional(),
  kind: z.enum(['network', 'timeout', 'invalid_answer', 'quota_exhausted']).exactOptional(),
  message: z.string().default('The script says so.'),
  retryAfterMs: ms.exactOptional(),
})

const delays = {
  afterMs: ms.default(0).describe('before the first output'),
  fragmentMs: ms.default(0).describe('between two fragments'),
}
const usage = z
  .strictObject({
    inputTokens: tokens,
    outputTokens: tokens,
    cachedInputTokens: tokens.default(0),
    reasoningTokens: tokens.default(0),
  })
  .exactOptional()

/** One reaction to a call. */
const reaction = z.union([
  z.strictObject({
    ...delays,
    parts: z.array(part),
    finish: z.enum(['stop', 'length']).exactOptional(),
    usage,
  }),
  z.strictObject({
    ...delays,
    cut: z.array(part).describe('the stream breaks after these; the last part stays half'),
    usage,
  }),
  z.strictObject({ ...delays, refuse: z.string(), usage }),
  z.strictObject({ ...delays, overflow: z.string() }),
  z.strictObject({ ...delays, fail: failure }),
])

const answer = z.union([
  reaction,
  z.strictObject({
    tries: z.array(reaction).min(1).describe('one for each call for this answer; the last one repeats'),
  }),
])

const condition = z.strictObject({
  input: z.string().exactOptional().describe('a part of the newest user input'),
  tool: z.string().exactOptional().describe('a tool whose result is the newest item'),
  result: z.string().exactOptional().describe('a part of the newest result'),
  isError: z.boolean().exactOptional().describe('whether the newest result is an error'),
})

const script = z.strictObject({
  $schema: z.string().exactOptional(),
  replies: z
    .array(z.strictObject({ when: condition, answer }))
    .default([])
    .describe('the first that fits is used, before the list of answers'),
  answers: z.array(answer).default([]).describe('in order, one for each answer of the session'),
  atEnd: z.enum(['fail', 'repeat']).default('fail').describe('after the last answer'),
})

export type Script = z.output<typeof script>
export type ScriptedAnswer = z.output<typeof answer>
export type Reaction = z.output<typeof reaction>
export type ScriptedPart = z.output<typeof part>
export type Condition = z.output<typeof condition>

/** Parses the text of a script. `name` is how messages call it. */
export function parseScript(
  text: string,
  name: string,
): { readonly type: 'parsed'; readonly script: Script } | ModelRefusal {
  const remedy = 'Correct the file. A script has the members answers, replies and atEnd.'
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return modelRefusal('script_invalid', `The script ${name} is not JSON: ${String(error)}`, remedy)
  }
  const parsed = script.safeParse(value)
  if (parsed.success) return { type: 'parsed', script: parsed.data }
  return modelRefusal(
    'script_invalid',
    `The script ${name} cannot be used: ${scriptProblem(parsed.error.issues)}.`,
    remedy,
  )
}
