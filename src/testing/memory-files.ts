import { createHash } from 'node:crypto'
import type { FileSets } from '../kernel/file-sets.ts'

/** Files of a test. A set has the files right below its folder; its glob is ignored. */
export interface MemoryFiles extends FileSets {
  write(path: string, content: string): void
  remove(path: string): void
}

export function openMemoryFiles(): MemoryFiles {
  const contents = new Map<string, string>()
  return {
    write: (path, content) => void contents.set(path, content),
    remove: (path) => void contents.delete(path),
    async look({ folder }) {
      const inside = [...contents].filter(([path]) => path.startsWith(`${folder}/`)).sort()
      const files = Object.fromEntries(inside.map(([path, text]) => [path.slice(folder.length + 1), text]))
      return { hash: createHash('sha256').update(JSON.stringify(files)).digest('hex'), files }
    },
    watch: () => () => undefined,
  }
}
