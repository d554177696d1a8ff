import * as z from 'zod'
import { actor } from './shapes/actor.ts'
import { count, folder, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** Where an image comes from. */
export const IMAGE_SOURCES = ['built_in', 'registered', 'file'] as const

export const images = verb({
  summary: 'Lists the images that agents can be made from.',
  description:
    'Those of the folder and of all folders above it, those that were registered, and the built-in ones. Of several with one name, the first in the list counts that is not inert.',
  route: 'GET /images',
  needs: 'read',
  input: () => z.strictObject({ folder: folder.exactOptional().describe('the workspace, an absolute path') }),
  output: () =>
    z.strictObject({
      images: z.array(
        z.strictObject({
          name: z.string(),
          description: z.string(),
          hash: z.string().nullable().describe('of its content; null if the file cannot be used'),
          source: z.enum(IMAGE_SOURCES),
          path: z.string().nullable().describe('of its file'),
          state: z
            .enum(['usable', 'untrusted', 'invalid'])
            .describe('untrusted: it is inert until a person trusts its file'),
          problem: z.string().nullable().describe('why its file cannot be used'),
          version: count.nullable().describe('how often the name was registered'),
          registeredAt: time.nullable(),
          registeredBy: actor.nullable(),
        }),
      ),
    }),
  codes: ['denied'],
})
