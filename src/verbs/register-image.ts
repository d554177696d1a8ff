import * as z from 'zod'
import { MAX_IMAGE_CHARS } from '../core/image/image.ts'
import { imageShape } from './shapes/image.ts'
import { count } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const registerImage = verb({
  summary: 'Registers an image under its name, as a new version of it.',
  description:
    'The content is given as `image`, or as the `text` of a file whose name tells its format. The same content again changes nothing. A session or a process needs a rule that allows `write image:<name>`.',
  route: 'POST /images',
  needs: 'operate',
  asPerson: 'if_known',
  repeat: 'always',
  input: () =>
    z
      .strictObject({
        image: imageShape.exactOptional().describe('the image'),
        text: z.string().max(MAX_IMAGE_CHARS).exactOptional().describe('YAML, JSON or Markdown'),
        file: z
          .string()
          .min(1)
          .max(4_096)
          .exactOptional()
          .describe('with `text`: the name of its file, as reviewer.yaml'),
      })
      .refine(
        ({ image, text }) => (image === undefined) !== (text === undefined),
        'give either image or text',
      ),
  output: () => z.strictObject({ name: z.string(), hash: z.string(), version: count }),
  codes: ['denied', 'payload_too_large'],
})
