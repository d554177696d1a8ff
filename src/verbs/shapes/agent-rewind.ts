import * as z from 'zod'
import { FILE_FATES, type FileFate } from '../../core/files/plan-undo.ts'
import { count, time } from './scalars.ts'

/** A place in a session: a `seq`, or not more than 0 in the log of an earlier agent. */
export const place = z.number().int()

const number = count.describe('the number of a turn')

const named = (what: string) =>
  z.strictObject({ count, first: z.array(z.string()).describe(`the first of them: ${what}`) })

/** What a rewind leaves behind. */
export const undone = z.strictObject({
  turns: count.describe('turns that are not on the branch any more'),
  selected: count.describe('turns of another branch that are on it again'),
  modelCalls: count,
  toolCalls: count,
  files: named('at most 100 paths').describe('files that file tools have written since then'),
  commands: named('at most 20 command lines').describe(
    'commands that these turns have run: which files they changed is not known',
  ),
})

export const removedInput = { turn: number, input: z.string().describe('the id of the input'), seq: place }

/** What becomes of a file. */
const fileFate = z.strictObject({
  path: z.string(),
  fate: z
    .enum(FILE_FATES)
    .describe('`restored`: it has its earlier content; `removed`: it did not exist; others: why it is left'),
}) satisfies z.ZodType<FileFate>

export const fileFates = z.strictObject({
  files: z.array(fileFate).describe('at most 1,000, by path'),
  more: count.describe('how many more there are'),
  restored: count,
  removed: count,
  left: count,
})

/** A turn that the session can be rewound to: it is as before the turn. */
export const rewindPoint = z.strictObject({
  turn: number,
  cause: z.string(),
  beganAt: time,
  reason: z.string().describe('how it ended'),
  text: z.string().describe('the beginning of its input; empty if it has none'),
  modelCalls: count,
  toolCalls: count,
  files: count.describe('files that its file tools have written'),
})

export const sessionBranch = z.strictObject({
  last: number.describe('its last turn: its name, besides a label'),
  label: z.string().nullable(),
  turns: count.describe('turns that are on this branch alone'),
  from: count.nullable().describe('the last turn that it has in common with the current branch; null: none'),
  endedAt: time,
})
