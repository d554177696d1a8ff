import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { jsonObject } from './shapes/json.ts'
import { MAX_CONTENT_CHARS, objectName, objectTags, objectType, objectVersion } from './shapes/object.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const putObject = verb({
  summary: 'Puts an object, or a new version of one, into the namespace of a process.',
  description:
    'An immutable object never changes. A mutable one changes only from the version in `expect`. In a fork the new version hides that of the process it was forked from, which does not see it. The same content again changes nothing.',
  route: 'POST /processes/{pid}/objects',
  needs: 'operate',
  repeat: 'always',
  input: () =>
    z
      .strictObject({
        pid: processRef.describe('the process whose view it is'),
        name: objectName,
        text: z.string().max(MAX_CONTENT_CHARS).exactOptional().describe('the content'),
        data: z.base64().max(MAX_CONTENT_CHARS).exactOptional().describe('the content as Base64'),
        mediaType: z
          .string()
          .min(1)
          .max(100)
          .exactOptional()
          .describe('of the content; `text/plain` for a text'),
        type: objectType.exactOptional().describe('of a new object; a new version keeps it'),
        mutable: z.boolean().exactOptional().describe('of a new object: it may get further versions'),
        expect: count.exactOptional().describe('the version that it replaces; 0: there is none yet'),
        tags: objectTags.exactOptional().describe('up to 32 words to find it by'),
        metadata: jsonObject.exactOptional().describe('a small JSON object'),
      })
      .refine(({ text, data }) => (text === undefined) !== (data === undefined), {
        message: 'give text or data, one of them',
        path: ['text'],
      }),
  output: () =>
    z.strictObject({
      type: z.enum(['put', 'kept']).describe('`kept`: the newest version has this content already'),
      object: objectVersion.omit({ writer: true, at: true }),
    }),
  codes: [
    ...processCodes,
    'already_ended',
    'conflict',
    'invalid_request',
    'payload_too_large',
    'limit_exceeded',
  ],
})
