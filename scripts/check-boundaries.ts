/** Checks which folder of src/ imports which, and that core stays pure. The two tables below are the rules. */
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * What each folder may import besides its own files. The rule of a file is that of the longest folder name that contains it.
 *
 * | entry           | allows                                                       |
 * | folder or file  | everything in it, by its path below src/                     |
 * | `type x`        | type-only imports of x                                       |
 * | `node:*`        | all built-ins of Node                                        |
 * | any other word  | the package of that name                                     |
 * | `*`             | everything, also imports that only running the file resolves |
 * | `!x`            | forbids x                                                    |
 *
 * The longest entry that matches an import decides. Only composition roots have `*`.
 */
export const mayImport: Record<string, readonly string[]> = {
  base: [],
  // The tools of base that rules need are pure: the option that a caller probably meant is part of a refusal.
  core: ['base/is-object.ts', 'base/nearest-name.ts'],
  package: ['node:*', '!node:sqlite'],
  os: ['base', 'node:*', '!node:sqlite'],
  home: ['core/errors.ts', 'base', 'os', 'node:*', '!node:sqlite'],
  redaction: ['base', 're2js'],
  shell: ['base', 'unbash'],
  // Times of cron expressions. Its library is loaded with the first schedule that has one.
  calendar: ['core', 'croner'],
  // The format of output logs and its writers' parts: shared by the keeper, the executor of agents and all readers.
  'output-log': ['base', 'node:*', '!node:sqlite'],
  keeper: ['base', 'os', 'output-log', 'node:*', '@lydell/node-pty'],
  verbs: ['core', 'base', 'zod'],
  store: ['core', 'base', 'node:*', '!node:sqlite'],
  'store/sqlite': ['core', 'base', 'package', 'store', '!store/postgres', 'node:*'],
  'store/postgres': [
    'core',
    'base',
    'package',
    'store',
    '!store/sqlite',
    'node:*',
    '!node:sqlite',
    'postgres',
  ],
  model: ['core', 'base', 'node:*', '!node:sqlite', 'zod'],
  // The only place that knows types of the AI SDK: everything else speaks of models in Reeve's own words.
  'model/ai-sdk': [
    'core',
    'base',
    'model',
    '@ai-sdk/provider',
    '@ai-sdk/anthropic',
    '@ai-sdk/openai',
    '@ai-sdk/openai-compatible',
  ],
  // The VM of scripts. Its library is loaded by a worker thread alone.
  script: ['core', 'base', 'package', 'node:*', '!node:sqlite', 'quickjs-wasi'],
  // Files of workspaces and of the home that define something for agents.
  'agent-files': ['verbs', 'core', 'base', 'node:*', '!node:sqlite', 'yaml'],
  kernel: ['store/contract.ts', 'core', 'base'],
  command: [
    'kernel',
    'verbs',
    'core',
    'base',
    'redaction',
    'keeper/protocol',
    'output-log',
    'os',
    'package',
    'shell',
    'node:*',
    '!node:sqlite',
    're2js',
    '@xterm/headless',
  ],
  workflow: ['kernel', 'verbs', 'core', 'base', 'node:*', '!node:sqlite'],
  tool: ['kernel', 'verbs', 'core', 'base', 'node:*', '!node:sqlite'],
  agent: [
    'kernel',
    'store/contract.ts',
    'verbs',
    'model',
    'script/script-vm.ts',
    'type script',
    'core',
    'base',
    'node:*',
    '!node:sqlite',
    'zod',
  ],
  // The tools of native agents run in tool processes: they know their input and their call, and no kernel.
  'agent/tools': ['verbs', 'core', 'base', 'node:*', '!node:sqlite', 're2js', 'zod'],
  // Files that the executor writes while a model streams.
  'agent/live': ['model/model.ts', 'output-log', 'core', 'base', 'node:*', '!node:sqlite'],
  // JSON-RPC with a program that a keeper holds: numbered writes, messages with their offsets. MCP and ACP share it.
  'agent/kept-rpc': ['verbs', 'core', 'base'],
  // A client of MCP servers: it starts and talks to them through verbs, as the agent. The SDK is loaded for HTTP alone.
  'agent/mcp': [
    'agent/tools',
    'agent/kept-rpc',
    'verbs',
    'core',
    'base',
    'package',
    'node:*',
    '!node:sqlite',
    'zod',
    '@modelcontextprotocol/client',
  ],
  external: ['kernel', 'core', 'base', 'os', 'node:*', '!node:sqlite'],
  worker: [
    'workflow',
    'tool',
    'kernel',
    'verbs',
    'core',
    'base',
    'store/system-clock.ts',
    'node:*',
    '!node:sqlite',
  ],
  actions: [
    'kernel',
    'verbs',
    'core',
    'base',
    'redaction',
    'store/contract.ts',
    'keeper/protocol',
    'command',
    'workflow',
    'tool',
    'external',
    // The form in which parts of inputs are stored, and the logs of a session.
    'agent/parts',
    'zod',
    're2js',
  ],
  client: [
    'verbs',
    'base',
    'home',
    'os/program-marks.ts',
    'core/errors.ts',
    'core/refusal.ts',
    'node:*',
    '!node:sqlite',
    'ws',
  ],
  server: ['verbs', 'core', 'base', 'os', 'node:*', '!node:sqlite', 'hono', '@hono/node-server', 'ws', 'zod'],
  telemetry: ['type core', 'core/errors.ts', 'verbs', 'base', 'home', 'node:*', '!node:sqlite'],
  cli: ['client', 'verbs', 'core/errors.ts', 'base', 'home', 'os', 'node:*', '!node:sqlite'],
  mcp: [
    'client',
    'verbs',
    'base',
    'type core',
    'core/errors.ts',
    'core/refusal.ts',
    'package',
    'node:*',
    '!node:sqlite',
    'zod',
    '@modelcontextprotocol/server',
  ],
  acp: [
    'client',
    'verbs',
    'base',
    'type core',
    'core/errors.ts',
    // The plan of an agent, as its tool prints it.
    'core/plan/plan-list.ts',
    'node:*',
    '!node:sqlite',
    '@agentclientprotocol/sdk',
  ],
  testing: ['core', 'store/contract.ts', 'store/memory', 'kernel', 'verbs', 'node:assert', 'node:crypto'],
  embed: [
    '*',
    ...keeperByProtocol(),
    '!client',
    '!server',
    '!cli',
    '!mcp',
    '!acp',
    '!telemetry',
    '!daemon',
    '!demo',
  ],
  daemon: ['*', ...keeperByProtocol()],
  demo: ['*', ...keeperByProtocol(), '!daemon'],
  '': ['*', ...keeperByProtocol()],
}

/** The keeper is a program of its own: a daemon may talk to a keeper of another version, so it shares the protocol alone. */
function keeperByProtocol(): readonly string[] {
  return ['!keeper', 'keeper/protocol']
}

/** What makes a function depend on more than its arguments: forbidden in core. */
const impure: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Date.now()', /\bDate\.now\b/g],
  ['new Date()', /\bnew\s+Date\s*(\(\s*\)|(?!\s*\())/g],
  ['Math.random()', /\bMath\.random\b/g],
  ['setTimeout()', /\bsetTimeout\b/g],
  ['crypto', /\bcrypto\b/g],
  ['await', /\bawait\b/g],
  ['Promise', /\bPromise\b/g],
]

/** The packages that rules name. */
const PACKAGES = new Set([
  'croner',
  're2js',
  'unbash',
  'yaml',
  '@lydell/node-pty',
  'zod',
  'postgres',
  'quickjs-wasi',
  '@xterm/headless',
  'ws',
  'hono',
  '@hono/node-server',
  '@agentclientprotocol/sdk',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  '@ai-sdk/provider',
  '@ai-sdk/anthropic',
  '@ai-sdk/openai',
  '@ai-sdk/openai-compatible',
])

type SourceFile = { readonly path: string; readonly text: string }
type Violation = { readonly file: string; readonly line: number; readonly message: string }
type Import = { readonly specifier: string | undefined; readonly typeOnly: boolean; readonly index: number }

/** Every broken rule in these files. Paths begin with src/ and use forward slashes. */
export function violations(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => {
    const folder = ruleFor(file.path)
    if (folder === undefined) {
      const message = 'lies in a folder without a rule; give it one in scripts/check-boundaries.ts'
      return [{ file: file.path, line: 1, message }]
    }
    return [...forbiddenImports(file, folder), ...(isPure(file.path) ? impurities(file) : [])]
  })
}

/** Folders and files that the rules name and that do not exist: each would be a hole in the rules once it does. */
export function absentFrom(paths: readonly string[]): string[] {
  const known = paths.map((path) => path.replace(/^src\//, ''))
  const isPackage = (name: string) => isBuiltin(name) || name.startsWith('node:') || PACKAGES.has(name)
  const named = Object.entries(mayImport).flatMap(([folder, entries]) => [folder, ...entries.map(nameIn)])
  return [...new Set(named)].filter(
    (name) => name !== '' && name !== '*' && !isPackage(name) && !known.some((path) => isWithin(path, name)),
  )
}

/** Every folder with `*`. */
export function compositionRoots(): string[] {
  return Object.keys(mayImport).filter((folder) => mayImport[folder]?.includes('*'))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()

function main() {
  const paths = globSync('src/**/*.{ts,mts,cts}').map((path) => path.replaceAll('\\', '/'))
  const found = violations(paths.sort().map((path) => ({ path, text: readFileSync(path, 'utf8') })))
  for (const { file, line, message } of found) console.error(`${file}:${line} ${message}`)
  const absent = absentFrom(paths)
  for (const name of absent)
    console.error(`scripts/check-boundaries.ts names src/${name}, which does not exist`)
  console.log(`${paths.length} files checked, ${found.length + absent.length} violations.`)
  if (paths.length === 0) console.error('No files were checked: run this in the folder that contains src/.')
  process.exitCode = paths.length > 0 && found.length + absent.length === 0 ? 0 : 1
}

/** core, and what core imports. */
function isPure(path: string) {
  return ['core', ...(mayImport['core'] ?? [])].some((name) => isWithin(path, `src/${name}`))
}

function ruleFor(path: string) {
  const folder = posix.dirname(path).replace(/^src\/?/, '')
  const fitting = Object.keys(mayImport).filter((rule) =>
    rule === '' ? folder === '' : isWithin(folder, rule),
  )
  return fitting.sort((a, b) => b.length - a.length)[0]
}

function forbiddenImports(file: SourceFile, folder: string): Violation[] {
  const { code } = masked(file.text)
  const allowed = mayImport[folder] ?? []
  return importsOf(code)
    .filter((found) => !isAllowed(found, file.path, folder))
    .map((found) => ({
      file: file.path,
      line: lineAt(code, found.index),
      message:
        `imports ${found.specifier ?? 'a module whose name is computed'}; ` +
        `src/${folder} may import its own files${allowed.map((entry) => `, ${entry}`).join('')}`,
    }))
}

function isAllowed({ specifier, typeOnly }: Import, path: string, folder: string) {
  const allowed = mayImport[folder] ?? []
  if (specifier === undefined) return allowed.includes('*')
  const target = targetOf(specifier, path)
  if (target.kind === 'outside') return false
  const isOwn = target.kind === 'file' && isWithin(target.name, folder)
  const deciding = [...(isOwn ? [folder] : []), ...allowed]
    .filter((entry) => (typeOnly || !entry.startsWith('type ')) && matches(nameIn(entry), target))
    .sort((a, b) => nameIn(b).length - nameIn(a).length)[0]
  return deciding !== undefined && !deciding.startsWith('!')
}

function matches(name: string, target: { readonly kind: string; readonly name: string }) {
  if (name === '*') return true
  if (target.kind === 'file') return isWithin(target.name, name)
  if (target.kind === 'builtin' && name === 'node:*') return true
  return target.name === name || target.name.startsWith(`${name}/`)
}

/** The folder, file or package that an entry of the rules is about. */
function nameIn(entry: string) {
  return entry.replace(/^(!|type )/, '')
}

/** The target of a specifier. Reeve's own name counts as outside: sources import each other by relative paths. */
function targetOf(specifier: string, importer: string) {
  if (specifier.startsWith('.')) {
    const path = posix.join(posix.dirname(importer), specifier)
    return path.startsWith('src/') ? { kind: 'file', name: path.slice(4) } : { kind: 'outside', name: path }
  }
  if (isBuiltin(specifier)) return { kind: 'builtin', name: `node:${specifier.replace(/^node:/, '')}` }
  const isOutside = /^(reeve(\/|$)|[/#]|file:|data:)/.test(specifier)
  return { kind: isOutside ? 'outside' : 'package', name: specifier }
}

function isWithin(path: string, folderOrFile: string) {
  return path === folderOrFile || path.startsWith(`${folderOrFile}/`)
}

function importsOf(code: string): Import[] {
  const statements = code.matchAll(
    /(?<![\w$.])(?:import|export)\b(?<type>\s+type\b(?!\s*(?:,|from\b)))?(?:(?!\b(?:import|export)\b)[\w\s{},*$])*?\bfrom\s*(?<quote>['"])(?<specifier>[^'"\n]+)\k<quote>/g,
  )
  const bare = code.matchAll(/(?<![\w$.])import\s*(?<quote>['"])(?<specifier>[^'"\n]+)\k<quote>/g)
  const calls = code.matchAll(
    /(?<![\w$.])(?:import|require)\s*\(\s*(?:(?<quote>['"])(?<specifier>[^'"\n]+)\k<quote>\s*[,)])?/g,
  )
  return [...statements, ...bare, ...calls].map(({ groups, index }) => ({
    specifier: groups?.['specifier'],
    typeOnly: groups?.['type'] !== undefined,
    index,
  }))
}

function impurities(file: SourceFile): Violation[] {
  const { words } = masked(file.text)
  return impure.flatMap(([name, pattern]) =>
    [...words.matchAll(pattern)].map(({ index }) => ({
      file: file.path,
      line: lineAt(words, index),
      message: `uses ${name}; core is pure: time, ids and answers of others are arguments`,
    })),
  )
}

/**
 * The text with blanks for everything that is not code, so that every character keeps its position. `code` keeps strings,
 * since imports name files by them; `words` does not. Code inside `${}` stays in both. A slash begins a regular expression
 * where a value could begin; this is a guess, but a wrong guess ends with its line.
 */
function masked(text: string) {
  const code = text.split('')
  const words = [...code]
  const openTemplates: number[] = []
  let depth = 0
  let i = 0

  const blank = (end: number, alsoInCode: boolean) => {
    for (; i < end; i++) {
      if (text[i] === '\n') continue
      words[i] = ' '
      if (alsoInCode) code[i] = ' '
    }
  }
  const endOf = (pattern: RegExp) => {
    pattern.lastIndex = i
    return pattern.test(text) ? pattern.lastIndex : text.length
  }
  const template = () => {
    blank(endOf(/(?:\\[\s\S]|[^\\`$]|\$(?!\{))*/y), true)
    if (text[i] === '$') {
      openTemplates.push(depth)
      i += 2
    } else i++
  }

  while (i < text.length) {
    const char = text[i]
    if (text.startsWith('//', i)) blank(endOf(/.*/y), true)
    else if (text.startsWith('/*', i)) blank(endOf(/[\s\S]*?(?:\*\/|$)/y), true)
    else if (char === "'" || char === '"') blank(endOf(/(['"])(?:\\[\s\S]|(?!\1)[^\\\n])*\1?/y), false)
    else if (char === '`') {
      i++
      template()
    } else if (char === '}' && openTemplates.at(-1) === depth) {
      openTemplates.pop()
      i++
      template()
    } else if (
      char === '/' &&
      /(?:^|[(,=:[!&|?{};+\-*%<>~\n]|\b(?:return|case|typeof))\s*$/.test(text.slice(Math.max(0, i - 80), i))
    ) {
      blank(endOf(/\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])*\/?/y), true)
    } else {
      if (char === '{') depth++
      if (char === '}') depth--
      i++
    }
  }
  return { code: code.join(''), words: words.join('') }
}

function lineAt(text: string, index: number) {
  return text.slice(0, index).split('\n').length
}
