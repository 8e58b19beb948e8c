// A bundle: the shopper chooses its options, and the service returns the price.
import { useState } from 'react'
import { useQuery } from 'urql'
import type { Choice } from './cart'
import { graphql, type FragmentOf, readFragment } from './graphql'
import { PriceText } from './price'
import { StockBadge, type Available } from './stock'
import { useTexts } from './texts'

export const BundleOf = graphql(`
  fragment BundleOf on Product {
    id
    components { key name min max options { uuid quantity } }
    componentProducts { id uuid name }
    bundleChoices { component options { uuid } }
  }
`)

const Configured = graphql(`
  query Configured($id: ID!, $choice: [BundleChoiceInput!]!) {
    productConfigured(id: $id, choices: $choice) {
      price { ...PriceText }
      originalPrice { ...PriceText }
    }
  }
`, [PriceText])

type Chosen = Readonly<Record<string, string[]>> // options by component

/** useBundle is the current choice for a bundle. price is null until the choice is complete. */
export function useBundle(of: FragmentOf<typeof BundleOf>) {
  const bundle = readFragment(BundleOf, of)
  const [chosen, setChosen] = useState<Chosen>(() => Object.fromEntries(
    bundle.bundleChoices.map(({ component, options }) => [component, options.map(({ uuid }) => uuid)])
  ))
  const whole = bundle.components.every(({ key, min, max }) => {
    const count = chosen[key]?.length ?? 0
    return count >= min && count <= max
  })
  const choice: Choice[] = bundle.components.map(({ key, options }) => ({
    component: key,
    options: options.filter(({ uuid }) => chosen[key]?.includes(uuid)).map(({ uuid: id, quantity }) => ({ id, quantity }))
  }))
  const pause = !bundle.components.length || !whole
  const [{ data, error }] = useQuery({ query: Configured, variables: { id: bundle.id, choice }, pause })
  return { bundle, chosen, setChosen, whole, choice, price: pause ? null : data?.productConfigured ?? null, error }
}

/** Bundle shows the options of each component. */
export function Bundle({ of: { bundle, chosen, setChosen }, available }: { of: ReturnType<typeof useBundle>; available: Available }) {
  const texts = useTexts()
  const names = new Map(bundle.componentProducts.map(({ uuid, name }) => [uuid, name]))
  return bundle.components.map(({ key, name, min, max, options }) => {
    const taken = chosen[key] ?? []
    const one = max === 1
    const toggle = (id: string) => setChosen({
      ...chosen,
      [key]: one ? [id] : taken.includes(id) ? taken.filter(other => other !== id) : [...taken, id]
    })
    return <fieldset key={key} className="options">
      <legend>{name} <span className="muted">{texts.choose(min, max)}</span></legend>
      {options.map(({ uuid, quantity }) => {
        const checked = taken.includes(uuid)
        return <label key={uuid} className="chip">
          <input type={one ? 'radio' : 'checkbox'} name={`${bundle.id} ${key}`} value={uuid} checked={checked}
            disabled={!checked && (available[uuid] === 0 || (!one && taken.length >= max))} onChange={() => toggle(uuid)} />
          {quantity > 1 && `${quantity} × `}{names.get(uuid)} <StockBadge available={available[uuid]} />
        </label>
      })}
    </fieldset>
  })
}
