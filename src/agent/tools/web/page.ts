import { cutLine, linesOf } from '../../../core/files/numbered-lines.ts'
import { INLINE_BYTES } from '../../../core/tool/spill.ts'
import { type OutputPart, ToolError, type ToolOutput } from '../agent-tool.ts'
import type { PageAnswer } from './get-page.ts'
import { readableText } from './readable-text.ts'

/** What providers accept. */
const MAX_IMAGE_BYTES = 3_750_000
/** Of HTML: reading more would hold up the program. */
const MAX_HTML_CHARS = 3_000_000

/** A fetched page, as a model sees it: a picture, or lines of text. */
export interface Page {
  readonly url: URL
  readonly status: number
  readonly parts: readonly OutputPart[]
  readonly lines: readonly string[]
}

export function pageOf(url: URL, { status, contentType, body }: Extract<PageAnswer, { type: 'page' }>): Page {
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  if (/^image\/(png|jpeg|gif|webp)$/.test(type)) return pictureOf(url, status, type, body)
  const isHtml = type === 'text/html' || type === 'application/xhtml+xml'
  if (!isHtml && !isText(type) && body.length > 0)
    throw new ToolError(
      'not_text',
      `${url.href} is ${type === '' ? 'of no known type' : type} (${body.length} bytes), not text. Download it with a command.`,
    )
  const text = decoded(body, parameters)
  if (!isHtml) return { url, status, parts: [], lines: linesOf(text) }
  const lines = linesOf(readableText(text.slice(0, MAX_HTML_CHARS), url))
  const cut = text.length > MAX_HTML_CHARS ? ['(the page is longer; its rest was not read)'] : []
  return { url, status, parts: [], lines: [...lines, ...cut] }
}

/** One page of lines, at least one line. */
export function shownPage({ url, status, parts, lines }: Page, offset: number): ToolOutput {
  const head = `${url.href}${status >= 400 ? ` answered with status ${status}` : ''}`
  if (parts.length > 0) return { parts: [{ type: 'text', text: head }, ...parts] }
  if (offset > Math.max(1, lines.length))
    throw new ToolError('invalid_input', `The text of ${url.href} has ${lines.length} lines.`)
  const taken: string[] = []
  let chars = 0
  for (const line of lines.slice(offset - 1)) {
    const cut = cutLine(line)
    chars += cut.length + 1
    if (taken.length > 0 && chars > INLINE_BYTES) break
    taken.push(cut)
  }
  const last = offset + taken.length - 1
  const rest =
    last < lines.length
      ? [`(lines ${offset} to ${last} of ${lines.length}; go on with offset ${last + 1})`]
      : []
  const text = lines.length === 0 ? '(no text)' : taken.join('\n')
  return { parts: [{ type: 'text', text: [`${head}\n`, text, ...rest].join('\n') }] }
}

function pictureOf(url: URL, status: number, mediaType: string, body: Buffer): Page {
  if (body.length > MAX_IMAGE_BYTES)
    throw new ToolError(
      'too_large',
      `The picture has ${body.length} bytes; models take at most ${MAX_IMAGE_BYTES}.`,
    )
  return { url, status, lines: [], parts: [{ type: 'image', mediaType, data: body.toString('base64') }] }
}

function isText(type: string): boolean {
  return /^text\//.test(type) || /[/+](json|xml|yaml|javascript|ecmascript|x-sh|toml)$/.test(type)
}

/** In the charset that the answer names. A name that is not known counts as UTF-8. */
function decoded(body: Buffer, parameters: readonly string[]): string {
  const charset = parameters
    .map((parameter) => /^charset="?([^"]+)"?$/.exec(parameter)?.[1])
    .find((name) => name !== undefined)
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(body)
  } catch {
    return new TextDecoder('utf-8').decode(body)
  }
}
