import {
  type Assignment,
  type Command,
  forEachChild,
  type HereDoc,
  type ParameterExpansionPart,
  type ParsedScript,
  type Redirect,
  type SyntaxNode,
  type TestBinaryExpression,
  type TestUnaryExpression,
  type Word,
} from 'unbash'
import type { Budget } from './budget.ts'
import type { SimpleCommand, Token } from './token.ts'
import { variableRunsPrograms } from './variables.ts'
import { assignmentTokenOf, hasUnusualCharacters, tokenOf } from './words.ts'

/** `sh` is what dash and bash read alike: `sh` may be either. */
export type Dialect = 'bash' | 'sh'

/** Receives what a script runs. */
export interface Findings {
  command(command: SimpleCommand): void
  /** The word `time` before a pipeline, which bash performs itself. */
  time(): void
  /** A redirection that writes. */
  write(target: string | null): void
  /** A variable that the script sets for what follows. */
  variable(name: string): void
  /** The script defines a function, which sees the variables that are set for a call of it. */
  definesFunction(): void
  /** Something may run that is not among the commands. */
  opaque(reason: string): void
}

const NUMBER = /^[-+]?\d*$/
const NUMBER_EXPANSION = /^(\$[#?$!]|\$\{#[\w@*]+\})$/
/** Operators of `[[` that evaluate both sides as expressions. */
const ARITHMETIC_TESTS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge'])
/** Operators that `[[` has in common with a program of that name. The others are redirections or pipes for dash. */
const PLAIN_TESTS = new Set(['=', '==', '!=', '-nt', '-ot', '-ef', ...ARITHMETIC_TESTS])
const WRITING = new Set(['>', '>>', '>|', '<>', '&>', '&>>', '>&'])
/** They store nothing. */
const NO_FILES = new Set(['/dev/null', '/dev/stdout', '/dev/stderr'])
const PLAIN_DELIMITER = /^(?:\\?[\w.+-]+|'[\w.+ -]+'|"[\w.+ -]+")$/

/** Reports every command in the script, also in substitutions, here-documents, functions and tests. */
export function walkScript(
  script: ParsedScript,
  dialect: Dialect,
  text: string,
  budget: Budget,
  findings: Findings,
) {
  const walk = new Walk(dialect, text, budget, findings)
  // A stack of its own: the depth of the text must not become that of the calls. The last one is the next.
  const pending: SyntaxNode[] = [script]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (!budget.spend(costOf(node))) return
    walk.visit(node)
    const children: SyntaxNode[] = []
    forEachChild(node, (child) => children.push(child))
    for (const child of children.reverse()) pending.push(child)
  }
}

/** What the parser does for a substitution besides reading it, in characters. */
const SUBSTITUTION_COST = 64

/** The parser reads the text of a node once more when its children are asked for. */
function costOf(node: SyntaxNode): number {
  const isScript = node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution'
  return (isScript ? SUBSTITUTION_COST : 1) + ('text' in node ? node.text.length : 0)
}

class Walk {
  readonly #dialect: Dialect
  readonly #saysFunction: boolean
  readonly #budget: Budget
  readonly #findings: Findings

  constructor(dialect: Dialect, text: string, budget: Budget, findings: Findings) {
    this.#dialect = dialect
    this.#saysFunction = /\bfunction\b/.test(text)
    this.#budget = budget
    this.#findings = findings
  }

  visit(node: SyntaxNode): void {
    switch (node.type) {
      case 'Script':
        if (node.errors !== undefined && node.errors.length > 0)
          this.#opaque(`it is no valid script: ${node.errors[0]!.message}`)
        return
      case 'Command':
        this.#visitCommand(node)
        return
      case 'Time':
        this.#findings.time()
        return
      case 'Assignment':
        this.#visitAssignment(node)
        return
      case 'ArrayValue':
        if (node.elements.some(({ text }) => text.startsWith('[') && !/^\[\d+\]/.test(text)))
          this.#opaque('the index of an array may run commands')
        return
      case 'Redirect':
        this.#visitRedirect(node)
        return
      case 'HereDoc':
        this.#visitHereDoc(node)
        return
      case 'For':
      case 'Select':
        this.#findings.variable(node.name.value)
        this.#checkVariable(node.name.value, null)
        return
      case 'Function':
        this.#visitFunction(node.name)
        return
      case 'Word':
        if (hasUnusualCharacters(node))
          this.#opaque('it has characters that look like a space or cannot be seen')
        return
      case 'AnsiCQuoted':
        this.#bashOnly("$'…'")
        return
      case 'ExtendedGlob':
        this.#bashOnly('an extended pattern')
        return
      case 'ParameterExpansion':
        this.#visitParameter(node)
        return
      case 'Unknown':
        this.#opaque('an expansion is not known')
        return
      case 'CommandExpansion':
      case 'ProcessSubstitution':
        if (node.script === undefined) this.#opaque('a substitution cannot be read')
        else if (node.text.includes('<<') && !isOneCommand(node.script))
          this.#opaque('a substitution has a here-document and other commands')
        return
      case 'ArithmeticCommand':
        this.#bashOnly('((…))')
        if (node.expression === undefined) this.#opaque('an arithmetic expression cannot be read')
        return
      case 'ArithmeticExpansion':
        if (node.expression === undefined) this.#opaque('an arithmetic expression cannot be read')
        return
      case 'ArithmeticFor':
        this.#bashOnly('for ((…))')
        return
      case 'ArithmeticWord':
        if (!isNumber(node.value))
          this.#opaque('the value of a variable in an arithmetic expression may run commands')
        return
      case 'ArithmeticCommandExpansion':
        this.#opaque('the output of a command in an arithmetic expression may run commands')
        return
      case 'TestLogical':
      case 'TestGroup':
        this.#bashOnly('[[ … ]] with && or || or parentheses')
        return
      case 'TestBinary':
        this.#visitTest(node)
        return
      case 'TestUnary':
        this.#visitUnaryTest(node)
        return
      default:
        return
    }
  }

  #opaque(reason: string): void {
    this.#findings.opaque(reason)
  }

  /** Dash reads such text as something else, and may run a part of it. */
  #bashOnly(what: string): void {
    if (this.#dialect !== 'bash') this.#opaque(`${what} means something else to other shells than bash`)
  }

  #visitCommand({ name, prefix, suffix }: Command): void {
    const assignments = prefix.filter((one) => one.type === 'Assignment')
    if (name === undefined) {
      for (const one of assignments) this.#findings.variable(one.name)
      return
    }
    const tokens = [this.#token(name)]
    for (const one of suffix) {
      if (one.type === 'Assignment') {
        this.#budget.spend(one.text.length)
        tokens.push(assignmentTokenOf(one))
        this.#findings.variable(one.name)
      } else if (one.type === 'Word') tokens.push(this.#token(one))
    }
    this.#findings.command({ tokens, env: assignments.map((one) => one.name) })
  }

  #token(word: Word): Token {
    this.#budget.spend(word.text.length)
    return tokenOf(word)
  }

  #visitAssignment({ name, value, index }: Assignment): void {
    if (index !== undefined && !isNumber(index.value)) this.#opaque('the index of an array may run commands')
    this.#checkVariable(name, value.type === 'ArrayValue' ? null : this.#token(value).value)
  }

  #checkVariable(name: string, value: string | null): void {
    if (variableRunsPrograms(name, value)) this.#opaque(`it sets ${name}, which may run programs`)
  }

  #visitRedirect({ operator, target }: Redirect): void {
    if (!WRITING.has(operator)) return
    const value = target === undefined ? null : this.#token(target).value
    const isDescriptor = operator === '>&' && value !== null && /^(\d+-?|-)$/.test(value)
    if (!isDescriptor && !(value !== null && NO_FILES.has(value))) this.#findings.write(value)
  }

  /** Shells differ in where a document with an unusual delimiter ends, and what follows its end is run. */
  #visitHereDoc({ delimiter, closing }: HereDoc): void {
    if (delimiter === undefined || closing === undefined) this.#opaque('a here-document has no end')
    else if (!PLAIN_DELIMITER.test(delimiter.text)) this.#opaque('a here-document has an unusual delimiter')
  }

  #visitFunction(name: Word): void {
    this.#findings.definesFunction()
    if (this.#saysFunction) this.#bashOnly('the word function')
    // words.ts takes what nproc prints for a number.
    if (name.value === 'nproc') this.#opaque('it defines nproc')
  }

  /** Some expansions run commands that are in the value of a variable. */
  #visitParameter({ prefix, index, operation, text }: ParameterExpansionPart): void {
    const isList = operation?.type === 'Names' || index?.value === '@' || index?.value === '*'
    if (prefix === '!' && !isList) this.#opaque(`${text} reads a variable whose name may run commands`)
    if (index !== undefined && !isList && !isNumber(index.value))
      this.#opaque('the index of an array may run commands')
    if (operation?.type === 'Transform' && operation.operand.value !== 'Q')
      this.#opaque(`${text} may run commands`)
    if (operation?.type !== 'Slice') return
    const bounds = [operation.offset, ...(operation.length === undefined ? [] : [operation.length])]
    if (bounds.some(({ value }) => !isNumber(value)))
      this.#opaque(`${text} evaluates an expression, which may run commands`)
  }

  #visitTest({ operator, left, right }: TestBinaryExpression): void {
    if (!PLAIN_TESTS.has(operator)) this.#bashOnly(`[[ … ${operator} … ]]`)
    if (!ARITHMETIC_TESTS.has(operator)) return
    if ([left, right].some(({ value }) => !isNumber(value)))
      this.#opaque(`[[ … ${operator} … ]] evaluates the value of a variable, which may run commands`)
  }

  #visitUnaryTest({ operator, operand }: TestUnaryExpression): void {
    if ((operator === '-v' || operator === '-R') && !/^\w+$/.test(operand.value))
      this.#opaque(`[[ ${operator} … ]] may evaluate the index of a variable`)
  }
}

/**
 * Bash 5.2 writes a substitution anew before it runs it, and loses separators behind a here-document: `git; push` becomes
 * `git push`. One command has none.
 */
function isOneCommand({ commands }: ParsedScript): boolean {
  return commands.length === 1 && commands[0]!.command.type === 'Command' && !commands[0]!.background
}

/** Whether the text is a number, or an expansion whose value is one. */
function isNumber(text: string): boolean {
  const trimmed = text.trim()
  return NUMBER.test(trimmed) || NUMBER_EXPANSION.test(trimmed)
}
