import { messageOf } from '../base/error-text.ts'

export type Parsed =
  | { readonly type: 'parsed'; readonly value: unknown }
  | { readonly type: 'problem'; readonly message: string }

/** References in YAML may repeat a part many times: more than this is an attack, and not a definition. */
const MAX_ALIASES = 50

/** Parses YAML, of which JSON is a part. The parser is loaded with the first file. */
export async function parseYaml(text: string): Promise<Parsed> {
  const { parse } = await import('yaml')
  try {
    return {
      type: 'parsed',
      value: parse(text, { maxAliasCount: MAX_ALIASES, prettyErrors: true }) as unknown,
    }
  } catch (error) {
    return { type: 'problem', message: firstLine(messageOf(error)) }
  }
}

/** Parses JSON strictly: YAML allows more. */
export function parseJson(text: string): Parsed {
  try {
    return { type: 'parsed', value: JSON.parse(text) as unknown }
  } catch (error) {
    return { type: 'problem', message: `It is not JSON: ${firstLine(messageOf(error))}` }
  }
}

/** A Markdown file with front matter between two lines of `---`. Without it everything is the body. */
export async function parseFrontMatter(
  text: string,
): Promise<{ readonly matter: Parsed; readonly body: string }> {
  const [, matter, body] = FRONT_MATTER.exec(text) ?? []
  if (matter === undefined) return { matter: { type: 'parsed', value: {} }, body: text.trim() }
  const parsed = await parseYaml(matter)
  // Other programs accept a plain line with a colon in it, such as a description, which is no YAML.
  return { matter: parsed.type === 'parsed' ? parsed : asLines(matter), body: (body ?? '').trim() }
}

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*(?:\r?\n|$)([\s\S]*)$/

function asLines(matter: string): Parsed {
  const entries = matter.split(/\r?\n/).map((line) => /^([A-Za-z][\w-]*):\s*(.*)$/.exec(line))
  if (entries.some((entry) => entry === null))
    return { type: 'problem', message: 'Its front matter is no YAML.' }
  return {
    type: 'parsed',
    value: Object.fromEntries(entries.flatMap((entry) => (entry === null ? [] : [[entry[1], entry[2]]]))),
  }
}

function firstLine(message: string): string {
  return message.split('\n')[0]?.replace(/:$/, '') ?? message
}
