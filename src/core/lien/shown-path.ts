/** Relative to a folder, if it is inside. */
export function shownPath(path: string, folder: string | null): string {
  if (folder === null || folder === '/') return path
  if (path === folder) return '.'
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
}
