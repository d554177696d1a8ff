import * as z from 'zod'
import { MERGE_POLICIES } from '../../core/object/merge.ts'
import {
  MAX_OBJECT_NAME_CHARS,
  MAX_OBJECT_TAG_CHARS,
  MAX_OBJECT_TAGS,
  OBJECT_RIGHTS,
  OBJECT_TYPES,
  type ObjectId,
} from '../../core/object/object.ts'
import { actor } from './actor.ts'
import { jsonObject } from './json.ts'
import { count, time } from './scalars.ts'
import { view } from './view.ts'

/** The namespace of a process and a name in it. */
const oid: z.ZodType<ObjectId, ObjectId> = z.templateLiteral([z.string(), '/', z.string()])
export const objectType = z.enum(OBJECT_TYPES)
const objectRight = z.enum(OBJECT_RIGHTS)
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

const at = time.describe('when the version was written')

/** An object as a view shows it. */
export const shownObject = z.strictObject({
  name: z.string().describe('its name in the view'),
  ...version,
  oid: oid.describe('the process whose namespace has it, and its name there'),
  rights: z.array(objectRight).describe('what the view gives'),
  writer: writer.describe('the process that wrote the version, and the event in which it did'),
  at,
  handle: z.string().exactOptional().describe('the handle that shows it, if the process has it by one'),
})

/** A version in a history. */
export const objectVersion = z.strictObject({ ...version, writer, at })

/** The content as text, or as Base64 if it is none. */
export const content = {
  text: z.string().exactOptional().describe('the content, if it is text'),
  data: z.string().exactOptional().describe('the content as Base64, if it is no text'),
  isCut: z.boolean().describe('the content goes on behind what is shown'),
}

export const objectName = z
  .string()
  .min(1)
  .max(MAX_OBJECT_NAME_CHARS)
  .describe('the name of the object in the view, such as evidence/tests')
export const objectRights = z.array(objectRight).min(1).max(OBJECT_RIGHTS.length)
/** How much of a content one answer has. */
export const MAX_SHOWN_BYTES = 256 * 1024
/** How much content one call puts. */
export const MAX_CONTENT_CHARS = 700_000
export const objectTags = z.array(z.string().min(1).max(MAX_OBJECT_TAG_CHARS)).max(MAX_OBJECT_TAGS)
