import { decodeEntities } from './entities.ts'

/** Elements whose content is not text for a reader. */
const DROPPED = new Set([
  'script',
  'style',
  'noscript',
  'svg',
  'template',
  'iframe',
  'object',
  'canvas',
  'math',
])

/** Elements that begin a paragraph of their own. */
const BLOCKS = new Set(
  'address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure footer form header hr html main nav ol p section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
)

/**
 * The text of an HTML page, with headings, lists, links and preformatted text in Markdown. It reads the page once, from beginning
 * to end, in time proportional to its length. Unknown elements are plain text.
 */
export function readableText(html: string, base: URL): string {
  const page = new PageText(base)
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at)
    page.text(html.slice(at, open === -1 ? html.length : open))
    if (open === -1) break
    if (html.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open + 4)
      at = end === -1 ? html.length : end + 3
      continue
    }
    const tag = tagAt(html, open)
    if (tag === undefined) {
      page.text('<')
      at = open + 1
    } else if (!tag.isEnd && DROPPED.has(tag.name)) at = endOfElement(html, tag.name, tag.end)
    else {
      page.tag(tag)
      at = tag.end
    }
  }
  return page.finish()
}

interface Tag {
  readonly name: string
  readonly isEnd: boolean
  readonly source: string
  readonly end: number
}

/** The tag that begins here. A further `<` outside of quotes ends the search, so that a page of `<a<a<a` takes no longer. */
function tagAt(html: string, open: number): Tag | undefined {
  const [, slash = '', name = ''] =
    /^<(\/?)([a-zA-Z!?][a-zA-Z0-9:-]*)/.exec(html.slice(open, open + 100)) ?? []
  if (name === '') return undefined
  for (let at = open + 1; at < html.length; at++) {
    const character = html.charAt(at)
    if (character === '<') return undefined
    if (character === '>')
      return { name: name.toLowerCase(), isEnd: slash !== '', source: html.slice(open, at + 1), end: at + 1 }
    if ((character === '"' || character === "'") && html[at - 1] === '=') {
      const close = html.indexOf(character, at + 1)
      if (close === -1) return undefined
      at = close
    }
  }
  return undefined
}

function endOfElement(html: string, name: string, from: number): number {
  const end = `</${name}`
  for (let at = html.indexOf('</', from); at !== -1; at = html.indexOf('</', at + 2)) {
    if (html.slice(at, at + end.length).toLowerCase() !== end) continue
    const close = html.indexOf('>', at)
    return close === -1 ? html.length : close + 1
  }
  return html.length
}

/** Writes the text of a page, with white space as a browser shows it. */
class PageText {
  readonly #base: URL
  #text = ''
  #preformatted = 0
  #needsSpace = false
  #link: { readonly href: string; readonly from: number } | undefined

  constructor(base: URL) {
    this.#base = base
  }

  text(source: string): void {
    if (source === '') return
    const text = decodeEntities(source)
    if (this.#preformatted > 0) {
      this.#text += text
      return
    }
    const words = text.replace(/\s+/g, ' ')
    if (words.startsWith(' ')) this.#needsSpace = true
    const trimmed = words.trim()
    if (trimmed === '') return
    if (this.#needsSpace && this.#text !== '' && !/\s/.test(this.#text.slice(-1))) this.#text += ' '
    this.#text += trimmed
    this.#needsSpace = words.endsWith(' ')
  }

  tag({ name, isEnd, source }: Tag): void {
    const heading = /^h([1-6])$/.exec(name)?.[1]
    if (heading !== undefined) this.#begin(2, isEnd ? '' : `${'#'.repeat(Number(heading))} `)
    else if (name === 'title') this.#begin(2, isEnd ? '' : '# ')
    else if (name === 'br') this.#begin(1, '')
    else if (name === 'li') this.#begin(1, isEnd ? '' : '- ')
    else if (name === 'td' || name === 'th') this.text(isEnd ? ' | ' : '')
    else if (name === 'pre') this.#pre(isEnd)
    else if (name === 'a') this.#anchor(isEnd, source)
    else if (name === 'img' && !isEnd) this.#image(source)
    else if (BLOCKS.has(name)) this.#begin(2, '')
  }

  finish(): string {
    const lines = this.#text.split('\n').map((line) => line.trimEnd())
    return lines
      .filter((line, index) => line !== '' || lines[index - 1] !== '')
      .join('\n')
      .trim()
  }

  #pre(isEnd: boolean): void {
    if (isEnd && this.#preformatted === 0) return
    this.#preformatted += isEnd ? -1 : 1
    this.#begin(1, '```\n')
  }

  #image(source: string): void {
    const alt = attributeOf(source, 'alt')
    if (alt !== '') this.text(`[${alt}]`)
  }

  #anchor(isEnd: boolean, source: string): void {
    const { href, from } = this.#link ?? { href: '', from: 0 }
    if (isEnd && href !== '' && this.#text.slice(from).trim() !== '') this.#text += ` (${href})`
    this.#link = isEnd
      ? undefined
      : { href: this.#absolute(attributeOf(source, 'href')), from: this.#text.length }
  }

  #absolute(href: string): string {
    if (href === '' || href.startsWith('#') || !URL.canParse(href, this.#base.href)) return ''
    const url = new URL(href, this.#base)
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : ''
  }

  /** Begins a line, after this many line ends. */
  #begin(count: number, prefix: string): void {
    this.#needsSpace = false
    if (this.#text !== '') {
      const there = /\n*$/.exec(this.#text.slice(-count))?.[0].length ?? 0
      this.#text += '\n'.repeat(count - there)
    }
    this.#text += prefix
  }
}

function attributeOf(source: string, name: string): string {
  const match = new RegExp(`\\s${name}\\s*=\\s*("[^"]*"|'[^']*'|[^\\s>"']+)`, 'i').exec(source)
  return decodeEntities((match?.[1] ?? '').replace(/^["']|["']$/g, '')).trim()
}
