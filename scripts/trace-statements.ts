/**
 * Loaded by `--import` into each program of a traced run (scripts/trace-walk.ts): notes when each statement of `src/` runs first.
 * Statements of a module's top level, and what they call while the module is loaded, are not noted.
 *
 * A command line writes what it noted when it exits. Daemon and keeper live longer: they poll the file `phase` in the trace
 * folder, write what they noted in a phase when the next one begins, and confirm it in a file of their own.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'

/** The first run of a statement. Times of one machine can be compared: the clock is monotonic and the same in all programs. */
export interface Noted {
  readonly file: string
  readonly statement: number
  readonly atNs: number
}

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, unknown>
>
interface Insertion {
  readonly at: number
  readonly text: string
  readonly closes?: boolean
}

const SOURCES = join(import.meta.dirname, '..', 'src')
const POLL_MS = 10
const folder = process.env['REEVE_TRACE'] ?? ''
const role = process.argv.includes('up')
  ? 'daemon'
  : process.argv.some((argument) => argument.includes('keeper/main'))
    ? 'keeper'
    : 'cli'

const noted = new Map<string, Noted>()
let isOn = role === 'cli'
let modulesLoading = 0
Object.assign(globalThis, {
  noteStatement(file: string, statement: number): void {
    const key = `${file} ${statement}`
    if (isOn && modulesLoading === 0 && !noted.has(key))
      noted.set(key, { file, statement, atNs: Number(process.hrtime.bigint()) })
  },
  noteLoading(change: 1 | -1): void {
    modulesLoading += change
  },
})

registerHooks({
  load(url, context, next) {
    if (!url.startsWith(`file://${SOURCES}/`) || !url.endsWith('.ts')) return next(url, context)
    const path = fileURLToPath(url)
    const source = traced(
      stripTypeScriptTypes(readFileSync(path, 'utf8')),
      path.slice(SOURCES.length - 'src'.length),
    )
    return { format: 'module', source, shortCircuit: true }
  },
})

if (role === 'cli') process.on('exit', () => write('run'))
else followPhases()

function followPhases(): void {
  let phase = 'off'
  setInterval(() => {
    const next = readFileSync(join(folder, 'phase'), 'utf8')
    if (next === phase) return
    if (phase !== 'off') write(phase)
    noted.clear()
    phase = next
    isOn = phase !== 'off'
    writeFileSync(join(folder, `${role}.phase`), phase)
  }, POLL_MS).unref()
}

function write(phase: string): void {
  writeFileSync(join(folder, `${role}.${phase}.json`), JSON.stringify([...noted.values()]))
}

/** The source with a call before each statement of a function, and before each expression that is the body of one. */
function traced(source: string, file: string): string {
  const insertions: Insertion[] = []
  let statements = 0
  let awaits = false
  const note = () => `noteStatement(${JSON.stringify(file)}, ${statements++})`
  const visit = (node: Node, isInFunction: boolean, parent: Node | null, key: string): void => {
    const { type, start, end } = node
    const isFunction = /^(Function(Declaration|Expression)|ArrowFunctionExpression)$/.test(type)
    const body = isFunction ? (node['body'] as Node | null) : null
    if (body !== null && body.type !== 'BlockStatement')
      insertions.push({ at: body.start, text: `(${note()}, (` }, { at: body.end, text: '))', closes: true })
    if (!isInFunction && type === 'AwaitExpression') awaits = true
    if (isInFunction && parent !== null && isCounted(type)) {
      if (Array.isArray(parent[key])) insertions.push({ at: start, text: `${note()};` })
      else if (['body', 'consequent', 'alternate'].includes(key))
        insertions.push({ at: start, text: `{${note()};` }, { at: end, text: '}', closes: true })
    }
    for (const [name, child] of Object.entries(node))
      for (const one of Array.isArray(child) ? child : [child])
        if (isNode(one)) visit(one, isInFunction || isFunction, node, name)
  }
  const program: unknown = parseAst(source, { lang: 'ts', sourceType: 'module' })
  if (isNode(program)) visit(program, false, null, '')
  const text = withInsertions(source, insertions)
  // A module that awaits, like a main program, is loaded only when its work is done.
  return awaits ? text : `noteLoading(1);${text}\nnoteLoading(-1)`
}

function isCounted(type: string): boolean {
  return (
    /Statement$|^VariableDeclaration$/.test(type) && type !== 'BlockStatement' && type !== 'EmptyStatement'
  )
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** Where several meet, inner texts close before outer ones, and all that close come before those that open. */
function withInsertions(source: string, insertions: readonly Insertion[]): string {
  const ordered = insertions
    .map((insertion, index) => ({ ...insertion, index }))
    .sort((one, other) => {
      if (one.at !== other.at) return one.at - other.at
      if (one.closes !== other.closes) return one.closes === true ? -1 : 1
      return one.closes === true ? other.index - one.index : one.index - other.index
    })
  let text = ''
  let from = 0
  for (const { at, text: inserted } of ordered) {
    text += source.slice(from, at) + inserted
    from = at
  }
  return text + source.slice(from)
}
