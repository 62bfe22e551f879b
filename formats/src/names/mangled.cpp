// What kernels of templates are called: the names in mangled.txt come from this file, by
//   g++ -std=c++20 -O0 -c mangled.cpp && nm mangled.o | grep -o '_Z.*' | sort -u > mangled.txt
#include <cstddef>
#include <type_traits>
#include <utility>

namespace lib {
template <int... N> struct Seq {};
template <class... T> struct Tuple {};
template <int V> struct C { static constexpr int value = V; };
enum class Layout { Row, Column };
enum Mode { Slow, Fast };
struct bf16 { unsigned short x; };
namespace arch { struct Sm90 {}; struct TensorOp {}; }

template <class T, class Tile, class Warp, Layout A, Layout B, Mode M, bool Aligned, class Epilogue, class... Rest> struct Gemm {
    struct Params { T* a; };
    struct Storage { char bytes[16]; };
    template <class U> struct Select { using type = U; struct Inner {}; };
};
template <class T, int N, class Op> struct Epilogue { template <class> using Fn = Op; };
template <class T> struct Plus { T operator()(T a, T b) const { return a + b; } };

template <class K> void device_kernel(typename K::Params) {}
template <class K, class S> void device_kernel2(typename K::template Select<S>::Inner, typename K::Params const&) {}

template <class T, int V, bool B, class F> void elementwise(long, F, T*, T const*, const volatile T&, T&&, T (&)[4]) {}
template <class T, std::enable_if_t<(sizeof(T) > 2) && std::is_floating_point<T>::value, int> = 0> void only_wide(T) {}
template <class T> typename std::enable_if<(std::is_same<T, float>::value || std::is_same<T, double>::value), T>::type reduced(T x) { return x; }
template <class T> auto deduced(T x) -> decltype(x + x) { return x; }
template <class F, class... A> auto called(F f, A... a) -> decltype(f(std::forward<A>(a)...)) { return f(a...); }
template <class T, T (*F)(const T&)> void activation(T*, const T*) {}
template <class T> T silu(const T& x) { return x; }
template <class... A, int... I> void packed(Tuple<A...>, Seq<I...>) {}
template <template <class...> class X, class T> void over(X<T>) {}
template <class T, int N> void sized(T (*)[N], Seq<N + 1, N * 2, -N>) {}
template <class... A> int folded(A... a) { return (... + a); }
template <auto V> void valued() {}
template <class T> void member(T (lib::bf16::*)(int) const, unsigned short lib::bf16::*) {}
template <class T> void excepted(T (*)(T) noexcept) {}
}  // namespace lib

namespace {
template <class T, int N> void hidden(T*, lib::Seq<N>) {}
struct Local {};
}  // namespace

struct Functor {
    explicit operator bool() const;
    template <class T> operator T*() const { return nullptr; }
    Functor& operator+=(const Functor&);
    bool operator<(const Functor&) const;
    int operator()(int, ...) const;
    int operator[](std::size_t) const;
    ~Functor();
    Functor();
};
Functor::operator bool() const { return true; }
Functor& Functor::operator+=(const Functor&) { return *this; }
bool Functor::operator<(const Functor&) const { return true; }
int Functor::operator()(int, ...) const { return 0; }
int Functor::operator[](std::size_t) const { return 0; }
Functor::~Functor() {}
Functor::Functor() {}
long double operator""_ns(unsigned long long) { return 0; }

template <class T> void launch(T* data, int n) {
    auto outer = [=](auto... x) {
        auto inner = [=](float y, T* z) { static int calls = 0; return y + n + calls++; };
        lib::elementwise<T, 4, false>(1, inner, data, data, *data, std::move(*data), reinterpret_cast<T(&)[4]>(*data));
        return inner(1.f, data) + sizeof...(x);
    };
    outer(1, 2.f, nullptr);
}

int main() {
    using namespace lib;
    using E = Epilogue<float, 8, Plus<float>>;
    using T128 = Tuple<C<128>, C<256>, C<64>>;
    using Big = Gemm<bf16, Seq<128, 256, 64>, Seq<64, 64, 64>, Layout::Row, Layout::Column, Fast, true, E, arch::Sm90, Tuple<>, T128>;
    using Nested = Gemm<float, T128, Tuple<T128, Tuple<T128, Tuple<T128, Seq<1, -2, 3>>>>, Layout::Column, Layout::Row, Slow, false, Epilogue<Big, 1, Plus<Big>>,
                        Big, Tuple<Big, Big::Storage, Big::Select<E>>, std::integral_constant<bool, true>, arch::TensorOp>;
    device_kernel<Big>({});
    device_kernel<Nested>({});
    device_kernel2<Nested, Tuple<Nested, Big>>({}, {});
    only_wide(1.0f);
    reduced(1.0);
    deduced(2);
    called(silu<float>, 1.f);
    activation<float, silu<float>>(nullptr, nullptr);
    activation<bf16, silu<bf16>>(nullptr, nullptr);
    packed(Tuple<int, float, bf16, Tuple<>>{}, Seq<1, 2, 3>{});
    over<Tuple, std::pair<int, unsigned char>>({});
    sized<double, 5>(nullptr, {});
    folded(1, 2, 3);
    valued<7>(); valued<'c'>(); valued<true>(); valued<Layout::Column>(); valued<Fast>(); valued<nullptr>(); valued<-1l>(); valued<&silu<int>>();
    member<int>(nullptr, nullptr);
    excepted<int>(nullptr);
    hidden<Local, 3>(nullptr, {});
    hidden<__int128, 2>(nullptr, {});
    launch<float>(nullptr, 1); launch<Local>(nullptr, 1); launch<lib::bf16>(nullptr, 2);
    Functor f; f += f; (void)(f < f); (void)bool(f); int* p = f; (void)p; f(1, 2); f[1];
    (void)1_ns;
}
