import * as z from 'zod'
import { advice, answerResult, approvalId } from './shapes/approval.ts'
import { verb } from './verb.ts'

const MAX_ANSWERS = 100

export const answerApprovals = verb({
  summary: 'Answers several requests at once, each for one time.',
  description:
    'Each answer counts by itself: one that is refused leaves the others as they are. The results are in the order of the answers.',
  route: 'POST /approvals/answers',
  needs: 'operate',
  asPerson: 'required',
  repeat: 'always',
  input: () =>
    z.strictObject({
      answers: z
        .array(
          z.discriminatedUnion('type', [
            z.strictObject({ type: z.literal('approve'), id: approvalId }),
            z.strictObject({ type: z.literal('deny'), id: approvalId, advice: advice.exactOptional() }),
          ]),
        )
        .min(1)
        .max(MAX_ANSWERS)
        .refine((answers) => new Set(answers.map(({ id }) => id)).size === answers.length, {
          message: 'must name each approval once',
        })
        .describe('one answer for each approval'),
    }),
  output: () => z.strictObject({ results: z.array(answerResult) }),
  codes: ['person_required'],
})
