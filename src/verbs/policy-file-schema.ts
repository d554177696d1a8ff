import * as z from 'zod'
import { DAYS } from '../core/capability/hours.ts'
import { MAX_FILE_RULES } from '../core/capability/policy-file.ts'
import { PRESETS } from '../core/capability/presets.ts'
import { RIGHTS } from '../core/capability/right.ts'
import { EFFECTS } from '../core/capability/rule.ts'

const texts = z.array(z.string().max(4_096)).max(64)
const some = texts.min(1)

const constraints = z.strictObject({
  args: z
    .array(z.union([z.string(), some]))
    .max(64)
    .exactOptional()
    .describe('the first arguments of a program, token by token; a list is a choice'),
  paths: some.exactOptional().describe('globs of files: * within a segment, ** for any number of segments'),
  maxBytes: z.number().int().min(0).exactOptional().describe('how large a file may be after a write'),
  methods: some.exactOptional().describe('methods of HTTP'),
  hosts: some.exactOptional().describe('host names, or *.example.com'),
  env: texts.exactOptional().describe('the variables that may be set for a program'),
  hours: z
    .strictObject({
      from: z.string().describe('HH:MM'),
      to: z.string().describe('HH:MM'),
      days: z.array(z.enum(DAYS)).min(1).exactOptional(),
      utcOffset: z.string().exactOptional().describe('like +02:00; UTC if left out'),
    })
    .exactOptional(),
})

const rule = z.strictObject({
  id: z
    .string()
    .regex(/^[\w.-][\w./-]{0,127}$/)
    .exactOptional(),
  effect: z.enum(EFFECTS).describe('the strictest rule that matches wins: deny, ask, allow'),
  resource: z
    .string()
    .max(4_096)
    .describe(
      'a kind and a path: shell:git push, fs:src/**, tool:deploy; paths are relative to the workspace',
    ),
  rights: z.array(z.enum(RIGHTS)).min(1).exactOptional(),
  constraints: constraints.exactOptional(),
  requestable: z
    .literal(true)
    .exactOptional()
    .describe('of an ask: the agent may ask for what nothing allows'),
  reviewer: z
    .string()
    .min(1)
    .max(256)
    .exactOptional()
    .describe('of an ask: what decides first, as tool:… or workflow:…; agents do not review yet'),
  answerWithinMs: z
    .number()
    .int()
    .min(1)
    .exactOptional()
    .describe('of an ask: without an answer in this time the process ends, in milliseconds'),
  justification: z
    .string()
    .min(1)
    .max(2_000)
    .exactOptional()
    .describe('why, for the person who is asked and for the agent that is refused'),
  match: texts.exactOptional().describe('examples that the rule must match'),
  nonmatch: texts.exactOptional().describe('examples that the rule must not match'),
  hosts: z.array(z.string().min(1).max(256)).min(1).max(64).exactOptional().describe('where it counts'),
  expiresAt: z.number().int().min(0).max(8.64e15).exactOptional().describe('milliseconds since 1970'),
})

/** The form of `.reeve/policy.json`. What a form cannot say, such as that examples hold, `reeve policy test` checks. */
export const policyFileSchema = z.strictObject({
  $schema: z.string().exactOptional().describe('where this schema is'),
  preset: z
    .enum(PRESETS)
    .exactOptional()
    .describe('rules for a common case; what they allow counts when a person trusts the file'),
  rules: z.array(rule).max(MAX_FILE_RULES).exactOptional(),
})

/** The JSON Schema of policy files, for editors and other tools. */
export function policyJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(policyFileSchema, { io: 'input' })
  return {
    $schema,
    title: '.reeve/policy.json',
    description: 'Rules for the agents of a workspace.',
    ...schema,
  }
}
