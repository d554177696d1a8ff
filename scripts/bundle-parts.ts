/**
 * Which modules of the build share a file. Node resolves, reads and links every file, and a daemon would load more than a hundred: a
 * bundler makes a file of the modules that the same dynamic imports need, and each subcommand is one.
 */
import { join } from 'node:path'
import type { ChunkingContext, CodeSplittingGroup } from 'rolldown'

/** Programs, and parts that are loaded at once: the modules that they begin with. */
const STARTS = {
  /** Refuses an old Node, so no module may come before it. */
  version: ['node-version'],
  keeper: ['keeper/main'],
  /** Every subcommand, and `reeve up` until it has started the keeper. */
  program: ['main', 'cli/subcommands/up', 'daemon/run'],
  client: ['index', 'sqlite'],
  worker: ['worker/worker'],
  embed: ['embed/embed'],
  mcp: ['mcp/stdio'],
  settings: ['daemon/settings', 'daemon/load-settings'],
  detach: ['daemon/detach'],
  files: ['daemon/token-file', 'daemon/secret-file'],
  daemon: ['daemon/up', 'server/server'],
} as const

type Start = keyof typeof STARTS

interface Part {
  readonly name: string
  /** It has the modules that one of these starts needs. */
  readonly of: readonly Start[]
  /** Without those that none of these starts needs, too. */
  readonly sharedWith?: readonly Start[]
}

/** In order of precedence. A module that is in none of them is left to the bundler. */
const PARTS: readonly Part[] = [
  { name: 'version', of: ['version'] },
  { name: 'system', of: ['keeper'], sharedWith: ['program', 'embed', 'mcp', 'daemon'] },
  { name: 'client', of: ['client'] },
  { name: 'common', of: ['program'], sharedWith: ['embed', 'mcp'] },
  { name: 'program', of: ['program'] },
  { name: 'log', of: ['detach'], sharedWith: ['daemon'] },
  { name: 'zod', of: ['settings'], sharedWith: ['mcp'] },
  { name: 'settings', of: ['settings'] },
  { name: 'files', of: ['files'], sharedWith: ['daemon'] },
  { name: 'worker', of: ['worker'], sharedWith: ['embed'] },
  { name: 'verbs', of: ['mcp'], sharedWith: ['embed'] },
  { name: 'embed', of: ['embed'] },
  { name: 'daemon', of: ['daemon'] },
]

/**
 * The parts as groups of rolldown. A part and the parts before it have everything that its modules import, so no two files import
 * each other.
 */
export function partGroups(source: string): CodeSplittingGroup[] {
  let needed: ReadonlyMap<Start, ReadonlySet<string>> | undefined
  return PARTS.map(({ name, of, sharedWith = of }, at) => ({
    priority: PARTS.length - at,
    debugName: name,
    name: (id, context) => {
      // `main` awaits a subcommand, which would wait for `main` if they shared a file.
      if (context.getModuleInfo(id)?.isEntry === true) return null
      needed ??= modulesOfStarts(source, context)
      const isNeededBy = (start: Start) => needed?.get(start)?.has(id) === true
      return of.some(isNeededBy) && sharedWith.some(isNeededBy) ? name : null
    },
  }))
}

function modulesOfStarts(source: string, context: ChunkingContext): ReadonlyMap<Start, ReadonlySet<string>> {
  const starts = Object.entries(STARTS) as [Start, readonly string[]][]
  return new Map(
    starts.map(([start, modules]) => {
      const ids = modules.map((module) => join(source, `${module}.ts`))
      const missing = ids.find((id) => context.getModuleInfo(id) === null)
      if (missing !== undefined) throw new Error(`${missing} is not in the build.`)
      return [start, withImports(ids, context)]
    }),
  )
}

/** These modules and everything that they import statically. */
function withImports(ids: readonly string[], context: ChunkingContext): ReadonlySet<string> {
  const found = new Set(ids)
  for (const id of found)
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) found.add(imported)
  return found
}
