import { basename, extname } from 'node:path'
import { messageOf } from '../base/error-text.ts'
import { isObject } from '../base/is-object.ts'
import { type Image, MAX_IMAGE_CHARS } from '../core/image/image.ts'
import { imageFileSchema } from '../verbs/image-file-schema.ts'
import { imageOfClaudeAgent } from './claude-agent.ts'
import { issuesText } from './issues-text.ts'
import { type Parsed, parseFrontMatter, parseYaml } from './parse-yaml.ts'

export type ParsedImage =
  | { readonly type: 'image'; readonly image: Image }
  | { readonly type: 'problem'; readonly message: string }

/** Formats of image files, by the ending of their names. */
export const IMAGE_ENDINGS: readonly string[] = ['.yaml', '.yml', '.json', '.md']

/**
 * An image as a file has it: YAML or JSON, or Markdown with its system prompt as the text. A file that names no image is named after
 * itself. `isForeign`: the file was written for another program, and has its fields; its path says so, if nothing else does.
 */
export async function parseImage(
  text: string,
  file: string,
  isForeign = FOREIGN.test(file),
): Promise<ParsedImage> {
  if (text.length > MAX_IMAGE_CHARS)
    return { type: 'problem', message: `It has more than ${MAX_IMAGE_CHARS} characters.` }
  const ending = extname(file).toLowerCase()
  const name = basename(file, extname(file))
  if (ending !== '.md') {
    const parsed = ending === '.json' ? parseJson(text) : await parseYaml(text)
    return parsed.type === 'problem' ? parsed : checked(parsed.value, name)
  }
  const { matter, body } = await parseFrontMatter(text)
  if (matter.type === 'problem') return matter
  if (!isObject(matter.value)) return { type: 'problem', message: 'Its front matter has no fields.' }
  const system = body === '' ? {} : { system: body }
  return checked(isForeign ? imageOfClaudeAgent(matter.value, body) : { ...matter.value, ...system }, name)
}

/** YAML has JSON as a part, but accepts texts that are no JSON, such as a comma before an end. */
function parseJson(text: string): Parsed {
  try {
    return { type: 'parsed', value: JSON.parse(text) as unknown }
  } catch (error) {
    return { type: 'problem', message: `It is no JSON: ${messageOf(error)}` }
  }
}

const FOREIGN = /(^|\/)\.claude\/agents\/[^/]*$/

function checked(value: unknown, name: string): ParsedImage {
  if (!isObject(value)) return { type: 'problem', message: 'It has no fields.' }
  const parsed = imageFileSchema.safeParse({ name, ...value })
  if (!parsed.success) {
    return { type: 'problem', message: issuesText(parsed.error.issues) }
  }
  const { $schema: _, ...image } = parsed.data
  return { type: 'image', image }
}
