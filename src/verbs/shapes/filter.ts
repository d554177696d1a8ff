import * as z from 'zod'
import { json } from './json.ts'
import { kind, status, waitOn } from './record.ts'
import { name, pid, time } from './scalars.ts'

/** One value or several; several are alternatives. */
const some = <Item extends z.ZodType>(item: Item) =>
  z.union([item.transform((one) => [one]), z.array(item).min(1)])
const selector = some(z.string().trim().min(1)).exactOptional()

export const filter = z.strictObject({
  status: z
    .union([z.literal('any'), some(status)])
    .exactOptional()
    .describe('without it, everything that has not ended'),
  kind: some(kind).exactOptional(),
  waiting: z
    .union([z.boolean(), some(waitOn)])
    .exactOptional()
    .describe('what it waits for; true: anything, false: nothing'),
  definition: z.array(json).min(1).exactOptional().describe('objects match if all their members are there'),
  label: some(z.string()).exactOptional(),
  name: some(name).exactOptional(),
  owner: z
    .strictObject({
      session: selector,
      turn: selector,
      toolCall: selector,
      terminal: selector,
      extension: selector,
      hook: selector,
      sandbox: selector,
      source: selector,
    })
    .exactOptional(),
  parent: some(pid).exactOptional(),
  root: some(pid).exactOptional(),
  pid: some(pid).exactOptional(),
  createdAfter: time.exactOptional(),
  createdBefore: time.exactOptional(),
})
