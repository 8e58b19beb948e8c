// Bounds on the price. Shoppers type major units, and the service takes minor units.
import { graphql, readFragment, type FragmentOf } from './graphql'
import { useShopper } from './shopper'
import { textsLanguage, useTexts } from './texts'

export const Amount = graphql(`
  fragment Amount on Money { amount currency formatted }
`)

interface Bounds { ge?: string | null; le?: string | null }

/** digitsOf returns the decimal places of a currency. */
export const digitsOf = (currency: string) => new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2

/** PriceRange are two fields, with the lowest and the highest price of the list as hints. */
export function PriceRange({ of, chosen, choose }: { of: { min: FragmentOf<typeof Amount>; max: FragmentOf<typeof Amount> }; chosen: Bounds; choose: (bounds: Bounds | null) => void }) {
  const texts = useTexts()
  const [{ language }] = useShopper()
  const min = readFragment(Amount, of.min), max = readFragment(Amount, of.max)
  const unit = 10 ** digitsOf(min.currency)
  const major = (amount: string | null | undefined) => amount ? String(Number(amount) / unit) : ''
  const submit = (form: HTMLFormElement) => {
    const minor = (name: string) => {
      const typed = new FormData(form).get(name)
      return typed ? String(Math.round(Number(typed) * unit)) : null
    }
    const bounds = { ge: minor('ge'), le: minor('le') }
    choose(bounds.ge || bounds.le ? bounds : null)
  }
  const hint = (amount: string) => new Intl.NumberFormat(textsLanguage(language)).format(Number(amount) / unit)
  return <form onSubmit={event => { event.preventDefault(); submit(event.currentTarget) }}>
    <fieldset className="range">
      <legend>{texts.price} <span className="muted">{texts.between(min.formatted, max.formatted)}</span></legend>
      {([['ge', texts.minimum, min], ['le', texts.maximum, max]] as const).map(([name, label, { amount }]) => <label key={name}>{label}
        <input type="number" name={name} min="0" step="any" inputMode="decimal" defaultValue={major(chosen[name])} placeholder={hint(amount)} />
      </label>)}
      <button type="submit" className="quiet">{texts.apply}</button>
    </fieldset>
  </form>
}
