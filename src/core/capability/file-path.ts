/** The path of a file as needs have it: relative to the workspace if it is inside, else absolute; normalised. Null if it cannot be known. */
export function pathOfFile(
  written: string,
  { cwd, workspace }: { readonly cwd: string | null; readonly workspace: string | null },
): string | null {
  // A shell replaces ~ with a folder that is not known here.
  if (written === '' || written.startsWith('~')) return null
  if (!written.startsWith('/') && cwd === null) return null
  const path = normal(written.startsWith('/') ? written : `${cwd}/${written}`)
  const root = workspace === null ? null : normal(workspace)
  if (root === null) return path
  if (path === root) return '.'
  return path.startsWith(root === '/' ? root : `${root}/`)
    ? path.slice(root === '/' ? 1 : root.length + 1)
    : path
}

function normal(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return `/${segments.join('/')}`
}
