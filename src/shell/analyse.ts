import { parse } from 'unbash'
import { messageOf } from '../base/error-text.ts'
import type { ShellAnalysis, ShellCommand } from './analysis.ts'
import { Budget, MAX_DEPTH, MAX_VARIABLES, tooLarge } from './budget.ts'
import { reasonForOpacity } from './opaque-programs.ts'
import { baseNameOf, literalToken, type SimpleCommand } from './token.ts'
import { unwrap } from './unwrap.ts'
import { type Dialect, walkScript } from './walk.ts'
import { isUnusual } from './words.ts'

/** Long enough for a person to understand it. */
const MAX_REASON_CHARS = 200

/**
 * What `shell -c text` would run. Bash is analysed, and what all of `sh`, `dash` and `ash` read as bash does. The text of any
 * other shell is opaque: zsh and fish have another grammar.
 */
export function analyseShell(text: string, shell = 'sh', budget: Budget = new Budget()): ShellAnalysis {
  return analysed(budget, (analysis) => analysis.text(text, baseNameOf(shell), 0))
}

/** What a program with these arguments would run, without a shell. */
export function analyseArgv(argv: readonly string[], budget: Budget = new Budget()): ShellAnalysis {
  return analysed(budget, (analysis) => analysis.command({ tokens: argv.map(literalToken), env: [] }, 0))
}

function analysed(budget: Budget, analyse: (analysis: Analysis) => void): ShellAnalysis {
  const analysis = new Analysis(budget)
  try {
    analyse(analysis)
  } catch (error) {
    // The parser recurses, so a hostile text can exhaust the stack.
    analysis.opaque(`it cannot be analysed: ${messageOf(error)}`)
  }
  return analysis.result()
}

/** The commands of one line, collected through all its texts and wrappers. */
class Analysis {
  readonly #budget: Budget
  readonly #commands: ShellCommand[] = []
  readonly #writes: (string | null)[] = []
  readonly #variables = new Set<string>()
  #definesFunctions = false
  #opaque: string | undefined

  constructor(budget: Budget) {
    this.#budget = budget
  }

  opaque(reason: string): void {
    this.#opaque ??= clip(reason)
  }

  result(): ShellAnalysis {
    const commands = this.#withVariables()
    // After a `cd` the folder of a relative path is not known.
    const moves = commands.some(({ program }) => /^(cd|pushd|popd|chdir)$/.test(program))
    const writes = this.#writes.map((target) =>
      moves && target !== null && !target.startsWith('/') ? null : target,
    )
    const reason = this.#opaque ?? this.#budget.exceeded
    return reason === undefined
      ? { type: 'commands', commands, writes }
      : { type: 'opaque', reason, commands, writes }
  }

  text(text: string, shell: string, depth: number, env: readonly string[] = []): void {
    const dialect = dialectOf(shell)
    const unreadable =
      dialect === undefined ? `${shell} is a shell that is not analysed` : unreadableText(text)
    if (unreadable !== undefined) this.opaque(unreadable)
    if (dialect === undefined || unreadable !== undefined || !this.#budget.spend(text.length)) return
    walkScript(parse(text), dialect, text, this.#budget, {
      command: (command) => this.command({ ...command, env: [...env, ...command.env] }, depth),
      time: () => this.#commands.push({ program: 'time', args: [], env: [], transparent: true }),
      write: (target) => this.#writes.push(target),
      variable: (name) => this.#variable(name),
      definesFunction: () => {
        this.#definesFunctions = true
      },
      opaque: (reason) => this.opaque(reason),
    })
  }

  /** Lists a command, and what it starts. */
  command(command: SimpleCommand, depth: number): void {
    if (!this.#budget.spendCommand() || !this.#budget.spend(command.tokens.length + command.env.length))
      return
    if (depth > MAX_DEPTH) {
      this.#budget.exceed('it is too deeply nested')
      return
    }
    const program = command.tokens[0]?.value
    if (program == null) {
      this.opaque('the name of a program is not literal')
      return
    }
    if (program === '' || program.startsWith('-') || isUnusual(program)) {
      this.opaque('the name of a program is empty, begins with a dash or has characters that cannot be seen')
      return
    }
    const args = command.tokens.slice(1)
    const inner = unwrap(command)
    const opaque = reasonForOpacity(program, args) ?? inner.opaque
    this.#commands.push({
      program,
      args: args.map(({ value }) => value),
      env: [...new Set(command.env)],
      ...(opaque === undefined && inner.transparent && isSystemPath(program) ? { transparent: true } : {}),
      ...(opaque === undefined ? {} : { opaque: clip(opaque) }),
    })
    for (const one of inner.commands) this.command(one, depth + 1)
    if (inner.script !== undefined) this.text(inner.script.text, inner.script.shell, depth + 1, command.env)
  }

  #variable(name: string): void {
    this.#variables.add(name)
    if (this.#variables.size > MAX_VARIABLES)
      this.#budget.exceed(`it sets more than ${MAX_VARIABLES} variables`)
  }

  /** A variable that the line sets may be one that is exported; one that is set for a function is seen by all its commands. */
  #withVariables(): readonly ShellCommand[] {
    const ofCalls = this.#definesFunctions ? this.#commands.flatMap(({ env }) => env) : []
    const names = new Set([...this.#variables, ...ofCalls])
    if (names.size === 0) return this.#commands
    return this.#commands.map((command) => ({ ...command, env: [...new Set([...command.env, ...names])] }))
  }
}

/** A file of the same name elsewhere may do anything. */
function isSystemPath(program: string): boolean {
  return !program.includes('/') || /^(\/usr)?\/bin\/[^/]+$/.test(program)
}

/** A reason may quote the text. */
function clip(reason: string): string {
  return reason.length > MAX_REASON_CHARS ? `${reason.slice(0, MAX_REASON_CHARS - 1)}…` : reason
}

function dialectOf(shell: string): Dialect | undefined {
  if (shell === 'bash') return 'bash'
  return shell === 'sh' || shell === 'dash' || shell === 'ash' ? 'sh' : undefined
}

function unreadableText(text: string): string | undefined {
  if (text.includes('\0') || text.includes('\r')) return 'it has a carriage return or a zero byte'
  return tooLarge(text)
}
