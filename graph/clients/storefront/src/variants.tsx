// Variants such as sizes and colours. The chosen options are in the URL, by their own ids.
import { useSearchParams } from 'react-router'

interface Variation { uuid: string; name: string; options: readonly { uuid: string; name: string; description: string }[] }
interface Child { childVariations: readonly { option: { uuid: string } | null }[] }

/** useVariant returns the chosen options, and the child that has all of them. */
export function useVariant<C extends Child>(children: readonly C[]) {
  const [search, setSearch] = useSearchParams()
  const chosen = search.get('options')?.split(',').filter(Boolean) ?? []
  const optionsOf = (child: C) => child.childVariations.flatMap(({ option }) => option ? [option.uuid] : [])
  const variant = children.find(child => optionsOf(child).length > 0 && optionsOf(child).every(option => chosen.includes(option)))
  // Disables options that no child combines with the other chosen options.
  const exists = (option: string, { options }: Variation) => {
    const wanted = [option, ...chosen.filter(id => !options.some(({ uuid }) => uuid === id))]
    return children.some(child => wanted.every(id => optionsOf(child).includes(id)))
  }
  const choose = (option: string, { options }: Variation) => {
    const others = chosen.filter(id => !options.some(({ uuid }) => uuid === id))
    setSearch({ options: [...others, option].join() }, { replace: true })
  }
  return { variant, chosen, exists, choose }
}

/** Variants shows the options of each variation. */
export function Variants({ variations, by: { chosen, exists, choose } }: { variations: readonly Variation[]; by: Omit<ReturnType<typeof useVariant>, 'variant'> }) {
  return variations.map(variation => <fieldset key={variation.uuid} className="options">
    <legend>{variation.name}</legend>
    {variation.options.map(({ uuid, name, description }) => <label key={uuid} className="chip">
      <input type="radio" name={variation.uuid} value={uuid} checked={chosen.includes(uuid)} disabled={!exists(uuid, variation)}
        onChange={() => choose(uuid, variation)} />
      {name} {description && <span className="muted">{description}</span>}
    </label>)}
  </fieldset>)
}
