import * as z from 'zod'
import { MERGE_POLICIES } from '../../core/object/merge.ts'
import { OBJECT_RIGHTS, OBJECT_TYPES, type ObjectId } from '../../core/object/object.ts'
import { actor } from './actor.ts'
import { jsonObject } from './json.ts'
import { count, time } from './scalars.ts'
import { view } from './view.ts'

/** The namespace of a process and a name in it. */
export const oid: z.ZodType<ObjectId, ObjectId> = z.templateLiteral([z.string(), '/', z.string()])
export const objectType = z.enum(OBJECT_TYPES)
export const objectRight = z.enum(OBJECT_RIGHTS)
export const mergePolicy = z.enum(MERGE_POLICIES)

const version = {
  oid,
  version: count,
  type: objectType,
  mutable: z.boolean(),
  hash: z.string(),
  bytes: count,
  mediaType: z.string(),
  tags: z.array(z.string()),
  metadata: jsonObject,
}
const writer = z.strictObject({ pid: z.string(), seq: count })

/** The payloads of events about objects. */
export const objectPayloads = () => ({
  object_put: z.strictObject({
    ...version,
    by: writer.exactOptional(),
    from: z.strictObject({ oid, version: count }).exactOptional(),
  }),
  object_written: z.strictObject({ oid, version: count, hash: z.string() }),
  object_linked: z.strictObject({
    name: z.string(),
    handle: z.string(),
    rights: z.array(objectRight),
    from: actor,
    chain: z.array(z.string()),
    target: z.strictObject({ ...version, writer, at: time }),
    live: z.boolean(),
  }),
  object_released: z.strictObject({ name: z.string(), version: count }),
  objects_merged: z.strictObject({
    from: z.string(),
    policy: mergePolicy,
    merged: count,
    skipped: count,
    conflicts: count,
  }),
  view_changed: z.strictObject({ view: view.extend({ since: count }) }),
})
