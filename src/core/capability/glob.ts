/** Compared in steps that may double with each `**`. */
const MAX_DEEP = 3

/** Whether a glob matches a path: `*` within a segment, `**` for any number of segments. */
export function globMatches(glob: string, path: readonly string[]): boolean {
  return segmentsMatch(segmentsOf(glob), path)
}

/** Whether the glob certainly matches only paths that the other one matches. */
export function isNarrowerGlob(glob: string, than: string): boolean {
  return isAbsoluteGlob(glob) === isAbsoluteGlob(than) && isNarrower(segmentsOf(glob), segmentsOf(than))
}

export function isAbsoluteGlob(glob: string): boolean {
  return glob.startsWith('/')
}

/** Why a glob cannot be stored; undefined if it can. */
export function globProblem(glob: string): string | undefined {
  const segments = segmentsOf(glob)
  if (segments.length === 0 || segments.includes('..'))
    return `${JSON.stringify(glob)} names no path of the workspace`
  if (/[?[\]{}]/.test(glob)) return `${JSON.stringify(glob)} has a wildcard other than * and **`
  if (segments.some((segment) => segment.includes('**') && segment !== '**'))
    return `${JSON.stringify(glob)} has a ** that is not a whole segment`
  if (segments.filter((segment) => segment === '**').length > MAX_DEEP)
    return `${JSON.stringify(glob)} has more than ${MAX_DEEP} times **`
  return undefined
}

function segmentsMatch(glob: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = glob
  if (first === undefined) return path.length === 0
  if (first === '**')
    return segmentsMatch(rest, path) || (path.length > 0 && segmentsMatch(glob, path.slice(1)))
  const [segment, ...below] = path
  return segment !== undefined && segmentMatches(first, segment) && segmentsMatch(rest, below)
}

function isNarrower(glob: readonly string[], than: readonly string[]): boolean {
  const [first, ...rest] = than
  if (first === undefined) return glob.length === 0
  if (first === '**') return isNarrower(glob, rest) || (glob.length > 0 && isNarrower(glob.slice(1), than))
  const [segment, ...below] = glob
  if (segment === undefined || segment === '**') return false
  const isWithin =
    first === '*' || first === segment || (!segment.includes('*') && segmentMatches(first, segment))
  return isWithin && isNarrower(below, rest)
}

/** Whether the parts between the wildcards appear in order, the first at the beginning and the last at the end. */
function segmentMatches(glob: string, segment: string): boolean {
  const [first = '', ...parts] = glob.split('*')
  const last = parts.pop()
  if (last === undefined) return glob === segment
  if (segment.length < first.length + last.length) return false
  if (!segment.startsWith(first) || !segment.endsWith(last)) return false
  let from = first.length
  for (const part of parts) {
    const found = segment.indexOf(part, from)
    if (found === -1) return false
    from = found + part.length
  }
  return from <= segment.length - last.length
}

function segmentsOf(glob: string): readonly string[] {
  return glob.split('/').filter((segment) => segment !== '' && segment !== '.')
}
