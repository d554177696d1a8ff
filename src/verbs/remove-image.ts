import * as z from 'zod'
import { IMAGE_NAME } from '../core/image/image.ts'
import { count } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const removeImage = verb({
  summary: 'Removes a registered image with all its versions.',
  description: 'Agents that were made from it go on. Built-in images and those of files stay.',
  route: 'DELETE /images/{name}',
  needs: 'admin',
  asPerson: 'if_known',
  input: () =>
    z.strictObject({
      name: z.string().regex(IMAGE_NAME, 'must be the name of an image').describe('the name of the image'),
    }),
  output: () => z.strictObject({ name: z.string(), versions: count.describe('how many were removed') }),
  codes: ['not_found', 'denied'],
})
