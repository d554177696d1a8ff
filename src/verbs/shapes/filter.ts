import * as z from 'zod'
import { json } from './json.ts'
import { eachSelector } from './owner.ts'
import { kind, status, waitOn } from './record.ts'
import { name, pid, time } from './scalars.ts'

/** One value, or a list of alternatives. */
const some = <Item extends z.ZodType>(item: Item) =>
  z.union([item.transform((one) => [one]), z.array(item).min(1)])
const selector = some(z.string().trim().min(1)).exactOptional().describe('a selector of the owner')

export const filter = z.strictObject({
  status: z
    .union([z.literal('any'), some(status)])
    .exactOptional()
    .describe('by default all processes that have not ended'),
  kind: some(kind).exactOptional().describe('kinds of processes'),
  waiting: z
    .union([z.boolean(), some(waitOn)])
    .exactOptional()
    .describe('what it waits for; true: anything, false: nothing'),
  definition: z
    .array(json)
    .min(1)
    .exactOptional()
    .describe('an object matches if the definition has all its members'),
  label: some(z.string()).exactOptional().describe('labels'),
  name: some(name).exactOptional().describe('names'),
  owner: z.strictObject(eachSelector(selector)).exactOptional().describe('all given selectors must match'),
  parent: some(pid).exactOptional().describe('pids of parents'),
  root: some(pid).exactOptional().describe('pids of the roots of trees'),
  pid: some(pid).exactOptional().describe('pids'),
  createdAfter: time.exactOptional(),
  createdBefore: time.exactOptional(),
})
