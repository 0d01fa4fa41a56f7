// SPDX-License-Identifier: MIT
// Of .NET's core library, the names that a program here needs: mcs cannot read the real one. Nothing
// of it runs.
namespace System {
	public class Object { public virtual string ToString() { return null; } }
	public abstract class ValueType { }
	public abstract class Enum : ValueType { }
	public struct Void { }
	public struct Boolean { }
	public struct Char { }
	public struct SByte { }
	public struct Byte { }
	public struct Int16 { }
	public struct UInt16 { }
	public struct Int32 { }
	public struct UInt32 { }
	public struct Int64 { }
	public struct UInt64 { }
	public struct Single { }
	public struct Double { }
	public struct Decimal { }
	public struct IntPtr { }
	public struct UIntPtr { }
	public sealed class String { }
	public abstract class Array { public extern int Length { [System.Runtime.CompilerServices.MethodImpl(0x1000)] get; } }
	public abstract class Delegate { }
	public abstract class MulticastDelegate : Delegate { }
	public class Exception { }
	public class Attribute { }
	public sealed class ParamArrayAttribute : Attribute { }
	public class Type { }
	public struct RuntimeTypeHandle { }
	public struct RuntimeFieldHandle { }
	public struct RuntimeMethodHandle { }
	public interface IDisposable { void Dispose(); }
	public struct TimeSpan { public long Ticks { get { return 0; } } }
	public static class GC {
		public static int CollectionCount(int generation) { return 0; }
		public static void Collect() { }
		public static TimeSpan GetTotalPauseDuration() { return new TimeSpan(); }
	}
}
namespace System.Collections {
	public interface IEnumerable { IEnumerator GetEnumerator(); }
	public interface IEnumerator { object Current { get; } bool MoveNext(); }
}
namespace System.Reflection { public sealed class DefaultMemberAttribute : Attribute { public DefaultMemberAttribute(string name) { } } }
namespace System.Runtime.CompilerServices {
	public sealed class MethodImplAttribute : Attribute { public MethodImplAttribute(short options) { } }
	public static class RuntimeHelpers { }
}
namespace System.Runtime.InteropServices {
	public sealed class DllImportAttribute : Attribute { public DllImportAttribute(string library) { } }
	public sealed class OutAttribute : Attribute { }
}
namespace System.Threading {
	public delegate void ThreadStart();
	public sealed class Thread {
		public Thread(ThreadStart start) { }
		public void Start() { }
		public void Join() { }
	}
}
