import { RE2JS } from 're2js'

/** Tests a path with slashes, relative to the folder of the pattern. Takes time in proportion to its length. */
export type PathTest = (path: string) => boolean

/** More alternatives than a person writes. */
const MAX_ALTERNATIVES = 100

/**
 * Compiles a glob: `*` and `?` within a segment, `**` across segments, `[…]`, `{a,b}`. A glob without a slash is about the last
 * segment at any depth. Throws for a class that is not closed.
 */
export function globTest(glob: string): PathTest {
  const alternatives = expandBraces(glob.replace(/^\.\//, ''))
  const sources = alternatives.map((one) =>
    one.includes('/') ? patternOf(one.replace(/^\//, '')) : `(?:.*/)?${patternOf(one)}`,
  )
  const compiled = RE2JS.compile(`^(?:${sources.join('|')})$`, RE2JS.DOTALL)
  return (path) => compiled.test(path)
}

/** The RE2 source of a glob without braces. */
export function patternOf(glob: string): string {
  let source = ''
  for (let at = 0; at < glob.length; at++) {
    const character = glob.charAt(at)
    if (character === '*' && glob.startsWith('**', at)) {
      const isWhole = (at === 0 || glob[at - 1] === '/') && (at + 2 === glob.length || glob[at + 2] === '/')
      if (isWhole && glob[at + 2] === '/') {
        source += '(?:[^/]+/)*'
        at += 2
      } else {
        source += isWhole ? '.*' : '[^/]*'
        at += 1
      }
    } else if (character === '*') source += '[^/]*'
    else if (character === '?') source += '[^/]'
    else if (character === '[') {
      const end = glob.indexOf(']', at + (/^\[[!^]?\]/.test(glob.slice(at)) ? 3 : 2))
      if (end === -1) source += '\\['
      else {
        source += `[${glob
          .slice(at + 1, end)
          .replace(/^!/, '^')
          .replaceAll('\\', '\\\\')
          .replaceAll('[', '\\[')}]`
        at = end
      }
    } else if (character === '\\' && at + 1 < glob.length) {
      at += 1
      source += RE2JS.quote(glob.charAt(at))
    } else source += RE2JS.quote(character)
  }
  return source
}

function expandBraces(glob: string): readonly string[] {
  let expanded: readonly string[] = [glob]
  for (;;) {
    const next = expanded.flatMap((one) => {
      const match = /\{([^{}]*,[^{}]*)\}/.exec(one)
      if (match === null) return [one]
      const [whole, inner = ''] = match
      return inner
        .split(',')
        .map((part) => one.slice(0, match.index) + part + one.slice(match.index + whole.length))
    })
    if (next.length === expanded.length || next.length > MAX_ALTERNATIVES) return expanded
    expanded = next
  }
}
