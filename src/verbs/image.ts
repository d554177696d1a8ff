import * as z from 'zod'
import { IMAGE_REF } from '../core/image/image.ts'
import { IMAGE_SOURCES } from './images.ts'
import { imageShape } from './shapes/image.ts'
import { folder } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const image = verb({
  summary: 'Shows an image: the one that an agent of this name would be made from.',
  description:
    'With name@hash it is that version, which is kept also if the name has another one since. Refused with `untrusted` if only a file that nobody trusts has it.',
  route: 'GET /images/{name}',
  needs: 'read',
  input: () =>
    z.strictObject({
      name: z
        .string()
        .regex(IMAGE_REF, 'must be the name of an image, or name@hash')
        .describe('the name of the image, or name@hash'),
      folder: folder.exactOptional().describe('the workspace, an absolute path'),
    }),
  output: () =>
    z.strictObject({
      image: imageShape,
      hash: z.string(),
      source: z.enum(IMAGE_SOURCES),
      path: z.string().nullable().describe('of its file'),
    }),
  codes: ['not_found', 'untrusted', 'denied'],
})
