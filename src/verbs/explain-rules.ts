import * as z from 'zod'
import { holdingSubject, shownRule } from './shapes/rule.ts'
import { folder } from './shapes/scalars.ts'
import { verb } from './verb.ts'

const ruling = z.strictObject({
  type: z.enum(['allow', 'ask', 'deny']),
  rule: z
    .strictObject({ subject: z.string(), id: z.string(), text: z.string() })
    .nullable()
    .describe('the rule that decides; null if none does'),
  reason: z.string().nullable(),
})

export const explainRules = verb({
  summary: 'Explains what the rules say about a command, a tool or a resource.',
  description: 'Nothing is started, asked for or used up.',
  route: 'POST /policies/explain',
  needs: 'admin',
  repeat: 'always',
  input: () =>
    z.strictObject({
      subject: holdingSubject
        .exactOptional()
        .describe('whose rules; without it those of every session of the home'),
      what: z
        .discriminatedUnion('type', [
          z.strictObject({
            type: z.literal('run'),
            run: z.string().min(1).max(100_000).describe('a line for the shell'),
          }),
          z.strictObject({
            type: z.literal('argv'),
            argv: z.array(z.string()).min(1).max(10_000).describe('a program and its arguments'),
          }),
          z.strictObject({
            type: z.literal('tool'),
            tool: z.string().min(1).max(200).describe('the name of a tool'),
          }),
          z.strictObject({
            type: z.literal('resource'),
            resource: z.string().min(1).max(5_000).describe('as in write fs:src/main.ts'),
          }),
        ])
        .describe('what would be done'),
      cwd: folder.exactOptional(),
    }),
  output: () =>
    z.strictObject({
      ruling,
      doubt: z
        .string()
        .exactOptional()
        .describe('of an ask: why it is not certain that its rule is about it; absent if it certainly is'),
      needs: z
        .array(
          z.strictObject({
            text: z.string().describe('what would be done to what'),
            opaque: z.string().nullable().describe('why it cannot be known what it does'),
            ruling,
            rules: z
              .array(
                z.strictObject({
                  ...shownRule.pick({ subject: true, id: true, text: true }).shape,
                  effect: z.enum(['allow', 'ask', 'deny']),
                  match: z.enum(['yes', 'unknown']),
                }),
              )
              .describe('all rules that are about it'),
          }),
        )
        .describe('what it would do, as far as rules know it'),
      sets: z
        .array(z.strictObject({ subject: z.string(), closed: z.boolean(), trusted: z.boolean() }))
        .describe('the rule sets that were asked'),
    }),
  codes: ['policy_invalid', 'session_unknown', 'session_ended', 'unknown_pid', 'denied'],
})
