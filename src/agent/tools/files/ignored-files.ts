import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RE2JS } from 're2js'
import { codeOf } from '../../../base/error-text.ts'
import { patternOf } from './glob-pattern.ts'

interface IgnoreRule {
  /** The folder of the file that has the rule, relative to the workspace; empty for the workspace itself. */
  readonly base: string
  readonly test: (path: string) => boolean
  readonly isNegated: boolean
  readonly onlyFolders: boolean
}

/** A longer file is generated; its first rules count. */
const MAX_RULES = 1_000

/**
 * What `.gitignore` files say, from the workspace down to a folder; the last rule that matches decides. Not read: the rules of
 * the user (`core.excludesFile`) and of the clone (`.git/info/exclude`). `.git` itself is always ignored.
 */
export class IgnoredFiles {
  readonly #root: string
  readonly #rules: readonly IgnoreRule[]
  readonly #onUnreadable: (path: string) => void

  private constructor(root: string, rules: readonly IgnoreRule[], onUnreadable: (path: string) => void) {
    this.#root = root
    this.#rules = rules
    this.#onUnreadable = onUnreadable
  }

  /** `onUnreadable` is called with each file of rules that exists and cannot be read: its rules do not count. */
  static async at(root: string, onUnreadable: (path: string) => void): Promise<IgnoredFiles> {
    return new IgnoredFiles(root, [], onUnreadable).below('')
  }

  /** With the rules of this folder added. */
  async below(folder: string): Promise<IgnoredFiles> {
    const path = join(folder, '.gitignore')
    const text = await readFile(join(this.#root, path), 'utf8').catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') this.#onUnreadable(path)
      return ''
    })
    const rules = text
      .split('\n')
      .slice(0, MAX_RULES)
      .flatMap((line) => ruleIn(line, folder))
    if (rules.length === 0) return this
    return new IgnoredFiles(this.#root, [...this.#rules, ...rules], this.#onUnreadable)
  }

  /** `path` is relative to the workspace. A file below an ignored folder is not asked about: the folder is not walked. */
  ignores(path: string, isFolder: boolean): boolean {
    if (path === '.git' || path.endsWith('/.git')) return true
    const last = this.#rules.findLast(({ base, test, onlyFolders }) => {
      if (onlyFolders && !isFolder) return false
      if (base === '') return test(path)
      return path.startsWith(`${base}/`) && test(path.slice(base.length + 1))
    })
    return last !== undefined && !last.isNegated
  }
}

function ruleIn(line: string, base: string): readonly IgnoreRule[] {
  const text = line.replace(/\r$/, '').replace(/(?<!\\)\s+$/, '')
  if (text === '' || text.startsWith('#')) return []
  const isNegated = text.startsWith('!')
  const pattern = isNegated ? text.slice(1) : text
  const onlyFolders = pattern.endsWith('/')
  const path = pattern.replace(/\/$/, '')
  const source = path.includes('/') ? patternOf(path.replace(/^\//, '')) : `(?:.*/)?${patternOf(path)}`
  try {
    const compiled = RE2JS.compile(`^${source}$`, RE2JS.DOTALL)
    return [{ base, isNegated, onlyFolders, test: (given) => compiled.test(given) }]
  } catch {
    // Git ignores a pattern that it cannot read, too.
    return []
  }
}
