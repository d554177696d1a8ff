import { didYouMean } from '../../base/nearest-name.ts'
import { OUTSIDE_NAMES } from '../../verbs/outside-names.ts'
import type { InputOf } from '../../verbs/reeve.ts'
import { UsageError } from '../usage-error.ts'
import type { AgentOptions } from './agent-options.ts'

type Spec = Extract<InputOf<'spawn'>, { kind: 'agent' }>['spec']
type Outside = Required<Pick<Spec, 'model'>> & Pick<Spec, 'program'>

/** The outside agent that `--with` names, or whose program `--with-program` is; undefined without both. */
export function outsideIn(options: AgentOptions): Outside | undefined {
  const { with: name, 'with-program': run, model } = options
  if (name === undefined && run === undefined) return undefined
  if (model !== undefined || (name !== undefined && run !== undefined))
    throw new UsageError(
      'Only one of --model, --with and --with-program can be given.',
      'Give --with for an agent that Reeve knows, --with-program for another one, --model for a model that Reeve calls.',
    )
  if (run !== undefined) return { model: `${OUTSIDE}program`, program: { run } }
  if (name === undefined || !OUTSIDE_NAMES.includes(name))
    throw new UsageError(
      `Reeve knows no agent ${name}.${didYouMean(name ?? '', OUTSIDE_NAMES)}`,
      `Name one of ${OUTSIDE_NAMES.join(', ')}, or give its command with --with-program.`,
    )
  return { model: `${OUTSIDE}${name}` }
}

/** In place of the provider of a model. */
const OUTSIDE = 'acp/'

export function isOutside(spec: { readonly model?: unknown }): boolean {
  return typeof spec.model === 'string' && spec.model.startsWith(OUTSIDE)
}
