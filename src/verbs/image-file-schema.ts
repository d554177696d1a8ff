import * as z from 'zod'
import { imageShape } from './shapes/image.ts'

/** The form of an image file: the image, and where its schema is. A file that names no image is named after itself. */
export const imageFileSchema = imageShape.extend({
  $schema: z.string().exactOptional().describe('where this schema is'),
})

/** The JSON Schema of image files, for editors and other tools. */
export function imageJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(imageFileSchema.partial({ name: true }), { io: 'input' })
  return {
    $schema,
    title: '.reeve/agents/<name>.yaml',
    description: 'An image: everything that an agent is made of, besides its goal.',
    ...schema,
  }
}
