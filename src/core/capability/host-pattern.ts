/** Whether a host is the one of a pattern: a host name, `*.example.com` for every host below that domain, or `*`. */
export function hostCovers(pattern: string, host: string): boolean {
  if (pattern === '*') return true
  const named = normalHost(host)
  return isWildcard(pattern) ? named.endsWith(pattern.slice(1)) : named === pattern
}

/** Whether the pattern covers only hosts that the other one covers. */
export function isNarrowerHost(pattern: string, than: string): boolean {
  if (than === '*') return true
  return isWildcard(pattern) ? isWildcard(than) && pattern.endsWith(than.slice(1)) : hostCovers(than, pattern)
}

/** The pattern in lower case, without a final dot; undefined if it is none. */
export function parseHost(text: string): string | undefined {
  const host = normalHost(text)
  const name = isWildcard(host) ? host.slice(2) : host
  if (host === '*') return host
  return /^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(name) ||
    (name === host && /^[0-9a-f:.]*:[0-9a-f:.]*$/.test(name))
    ? host
    : undefined
}

/** The keys under which a table holds the patterns that may cover a host. */
export function hostKeys(host: string): readonly string[] {
  const labels = normalHost(host).split('.')
  return [labels.join('.'), ...labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`)]
}

function isWildcard(host: string): boolean {
  return host.startsWith('*.')
}

/** IPv6 addresses without brackets. */
function normalHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}
