import type { NameKind } from './resource.ts'
import type { Right } from './right.ts'

/** One effect of an action: a right on a resource. An action has one need or more, and runs only if all are allowed. */
export interface Need {
  readonly right: Right
  readonly resource: ConcreteResource
  readonly attributes: NeedAttributes
}

/** What a need is about. Paths in the workspace are relative to it, others absolute; both are normalised. */
export type ConcreteResource =
  /** `path` null: which file it is cannot be known. `workspace`: its root, so that absolute rules cover it as well. */
  | { readonly kind: 'fs'; readonly path: string | null; readonly workspace?: string }
  | { readonly kind: 'shell'; readonly program: Program; readonly workspace?: string }
  | { readonly kind: 'net'; readonly host: string; readonly port?: number }
  | { readonly kind: 'process'; readonly pid: string; readonly ancestors: readonly string[] }
  | { readonly kind: NameKind; readonly path: string }

/** A program that a command starts. */
export interface Program {
  /** The last segment of what was written. */
  readonly name: string
  /** What was written, if it was a path. */
  readonly path?: string
  /** The file that the host found for it, after symbolic links. */
  readonly real?: string
}

/** What constraints compare. An attribute that is left out is not known. */
export interface NeedAttributes {
  /** Of a program: the arguments after the global options that are known to be such. Null: not literal, so it may be anything. */
  readonly args?: readonly (string | null)[]
  /** Of a program: an option that is not known comes before the subcommand, so the subcommand is not known. */
  readonly unknownOption?: boolean
  /** Of a program: the names of the variables that are set for it. */
  readonly env?: readonly string[]
  /** Of a program: why what it does cannot be known, such as that of an interpreter or of `eval`. */
  readonly opaque?: string
  /** Of a program: it is the file that it always is, and may start others from further folders of its `PATH`. */
  readonly widerPath?: true
  /** Of a program: it only starts others, which are needs of their own, so that a closed set need not allow it. */
  readonly transparent?: true
  /**
   * Every agent has it: the call of a model, or a question to a person. A closed set need not allow it, unless it has an allow that
   * says which models or which people.
   */
  readonly implied?: true
  /**
   * An image or a skill names it in advance. Where nothing allows it a person is asked. A yes lets the process begin and gives no right:
   * the effect is ruled on when it comes.
   */
  readonly requested?: true
  /** A person is asked about it unless an allow names it, also where there are no rules. */
  readonly confirmed?: true
  /** The files that are touched, besides the resource. */
  readonly paths?: readonly string[]
  /** The folder that relative `paths` begin in. */
  readonly workspace?: string
  /** Of a write: the size of the file after it. */
  readonly bytes?: number
  readonly method?: string
  /** The hashes of the whole action that has this need, one for each grant that remembers an answer. */
  readonly actions?: readonly string[]
  readonly host?: string
}

/** Of a need that only its resource tells from others. */
export const NO_ATTRIBUTES: NeedAttributes = {}

/** A need in one line, for people. */
export function needText({ right, resource, attributes: { args } }: Need): string {
  const what = `${right} ${concreteText(resource)}`
  return args === undefined ? what : [what, ...args.map((arg) => (arg === null ? '…' : arg))].join(' ')
}

function concreteText(resource: ConcreteResource): string {
  switch (resource.kind) {
    case 'fs':
      return `fs:${resource.path ?? '(unknown)'}`
    case 'shell':
      return `shell:${resource.program.path ?? resource.program.name}`
    case 'net':
      return `net:${resource.host}${resource.port === undefined ? '' : `:${resource.port}`}`
    case 'process':
      return `process:${resource.pid}`
    default:
      return `${resource.kind}:${resource.path}`
  }
}
